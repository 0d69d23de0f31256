// Judges whether losses depend on the rate. While they do not, GuardFacts::omits_losses is set, and the host leaves
// them out of transport feedback: a browser's LossBasedBweV2 would lower the rate for them, which does not end them.
// The rule changes no rate of its own; it counts the decisions that find so. At the sender it does nothing.
//
// Losses do not depend on the rate while
//   1. no queue was there in the last second, and a packet of the last 25 to 50 ms shows that there is none: each such
//      packet that waits for 10 ms above the delay noise shows a queue;
//   2. each of the last ten seconds lost 2 % or more, and all together 7 %. Below, that estimator hardly limits, and at
//      more than it lets pass a viewer sees more freezes, since a frame of more packets is lost more often. In the
//      first second of a call, whose losses it would remember, this is presumed;
//   3. no rule holds a rate that ended losses. A policer that is not found yet looks like any other loss;
//   4. what the last ten seconds lost costs little: a message of feedback for each, of 60 bytes with UDP and IP, and
//      all of them at most 5 % of what arrived, which is what RFC 3550 (section 6.2) gives RTCP. Streams of small
//      packets, as of audio alone, may exceed it.
//
// What a queue drops is reported, and a policer once it is found, since a lower rate ends it.
#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr TimeDelta kWaits = TimeDelta::Millis(10);
constexpr TimeDelta kQueueCounts = TimeDelta::Seconds(1);
constexpr double kLowestLoss = 0.02;
constexpr double kMeanLoss = 0.07;
constexpr DataSize kMessage = DataSize::Bytes(60);
constexpr double kHighestCost = 0.05;

// The messages that the losses of the last ten seconds cost, by what arrived.
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
