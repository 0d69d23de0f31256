// Judges whether losses depend on the rate. While they do not, the rule sets GuardFacts::omits_losses, and the host
// omits them from transport feedback: a browser's LossBasedBweV2 would lower the rate because of them, which does not
// end them. The rule does not change the rate; it counts the decisions at which it omits losses. At the sender it does
// nothing.
//
// Losses do not depend on the rate while
//   1. there was no queue in the last second, and a packet of the last 25 to 50 ms shows that there is none. Each such
//      packet that waits for 10 ms above the delay noise shows a queue;
//   2. each of the last ten seconds lost 2 % or more, and together they lost 7 %. Below that, LossBasedBweV2 hardly
//      limits the rate, and at a higher rate than it allows a viewer sees more freezes, since a frame of more packets
//      is lost more often. In the first second of a call, whose losses LossBasedBweV2 would remember, this is presumed;
//   3. no rule holds a rate that ended losses. A policer that has not been detected yet looks like any other loss;
//   4. omitting the losses of the last ten seconds costs little: one feedback message for each, of 60 bytes with UDP
//   and
//      IP, and together at most 5 % of the received bytes, the share that RFC 3550 (section 6.2) gives to RTCP. Streams
//      of small packets, such as audio alone, may exceed it.
//
// Losses of a full queue, and of a policer once it is detected, are reported, since a lower rate ends them.
#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr TimeDelta kWaits = TimeDelta::Millis(10);
constexpr TimeDelta kQueueCounts = TimeDelta::Seconds(1);
constexpr double kLowestLoss = 0.02;
constexpr double kMeanLoss = 0.07;
constexpr DataSize kMessage = DataSize::Bytes(60);
constexpr double kHighestCost = 0.05;

// Bytes of the messages that omitting the losses of the last ten seconds takes / bytes received.
double Cost(const ArrivalHistory& arrivals) {
  const ArrivalHistory::Second all = arrivals.SumOfSeconds();
  return all.size > DataSize::Zero() ? kMessage * static_cast<double>(all.lost) / all.size : 0;
}

class OmissionRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const ArrivalHistory& arrivals = facts.arrivals;
    if (arrivals.WaitsFor(kWaits)) queue_counts_until_ = facts.now + kQueueCounts;
    const bool no_queue = facts.now >= queue_counts_until_ && arrivals.SmallestDelay().IsFinite();
    const bool loses = arrivals.whole_seconds() == 0 ||
                       (arrivals.LowestLossRatio() >= kLowestLoss && arrivals.MeanLossRatio() >= kMeanLoss);
    facts.omits_losses =
        !facts.reported && no_queue && loses && !facts.rate_causes_losses && Cost(arrivals) <= kHighestCost;
    return rate;
  }

  Timestamp queue_counts_until_ = Timestamp::MinusInfinity();
};

}  // namespace

std::unique_ptr<GuardRule> MakeOmissionRule() { return std::make_unique<OmissionRule>(); }

}  // namespace weir
