// Omits losses that a lower rate would not end. While it does, the rule sets GuardFacts::omits_losses, and the host
// omits losses from transport feedback: a browser's LossBasedBweV2 would lower the rate because of them. The rule does
// not change the rate; it counts the decisions at which it omitted a loss. At the sender it does
// nothing.
//
// It omits losses while
//   1. there was no queue in the last second, and a packet of the last 25 to 50 ms shows that there is none. Each such
//      packet that waits for 10 ms above the delay noise shows a queue;
//   2. they are so many that omission helps, and so few that it costs little (LossProof::IsWorthIt);
//   3. a back-off has shown that they do not depend on the rate, and nothing has shown since that they do (LossProof).
//      In the first second of a call, whose losses LossBasedBweV2 would remember, (2) and (3) are presumed;
//   4. no rule holds a rate that ended losses.
//
// All other losses are reported: those after the first second and before the first back-off, those of a queue, of a
// policer and of an AQM, and all losses of a path that also has a short queue which drops packets.
#include "guard/guard_rule.h"
#include "guard/loss_proof.h"

namespace weir {
namespace {

constexpr TimeDelta kWaits = TimeDelta::Millis(10);
constexpr TimeDelta kQueueCounts = TimeDelta::Seconds(1);

class OmissionRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    const ArrivalHistory& arrivals = facts.arrivals;
    if (arrivals.WaitsFor(kWaits)) queue_counts_until_ = facts.now + kQueueCounts;
    const bool no_queue = facts.now >= queue_counts_until_ && arrivals.SmallestDelay().IsFinite();
    const bool presumed = arrivals.whole_seconds() == 0;
    const bool proven = LossProof::IsWorthIt(arrivals) && facts.losses_are_proven;
    facts.omits_losses = !facts.reported && no_queue && (presumed || proven) && !facts.rate_causes_losses;
    return rate;
  }

  Timestamp queue_counts_until_ = Timestamp::MinusInfinity();
};

}  // namespace

std::unique_ptr<GuardRule> MakeOmissionRule() { return std::make_unique<OmissionRule>(); }

}  // namespace weir
