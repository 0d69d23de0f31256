// Leaves other flows their share of a queue of a few packets. Its delay is too short for a policy to see, and a policy
// that tolerates 1 % of loss fills it, while TCP Cubic backs off at each loss. Acts at the sender, where a policy alone
// leaves Cubic a third of what GCC leaves it; at the receiver it leaves as much.
//
// 1. A second is contested if losses of the last ten seconds follow long delays of a short queue (LossesAfterDelay),
// and
//    it lost a packet.
// 2. A contested second lowers the limit to 0.95 min(limit, R), with R its receive rate, but not below 0.7 H. H is the
//    highest receive rate of a second, which decays by half each 100 s: a sender alone in such a queue, whose frames
//    overflow it at any rate, keeps most of its rate.
// 3. Each other second raises the limit by 20 %. It ends above 1.3 H.
#include <algorithm>
#include <cmath>

#include "guard/guard_rule.h"

namespace weir {
namespace {

constexpr double kFalls = 0.95;
constexpr double kRises = 1.2;
constexpr double kKept = 0.7;
constexpr double kEnd = 1.3;
constexpr double kHalfLifeSeconds = 100;

class YieldRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    // After a long pause the history begins again.
    if (facts.arrivals.whole_seconds() < seconds_) *this = {};
    if (facts.reported && facts.arrivals.whole_seconds() != seconds_) {
      seconds_ = facts.arrivals.whole_seconds();
      OnSecond(facts.arrivals);
    }
    return Limited(rate, limit_, facts);
  }

  void OnSecond(const ArrivalHistory& arrivals) {
    const DataRate received = arrivals.LatestSecondRate();
    highest_ = std::max(highest_ * std::exp2(-1 / kHalfLifeSeconds), received);
    if (arrivals.ShortQueueDrops() && arrivals.latest_second().lost > 0) {
      limit_ = std::max(std::min(limit_, received) * kFalls, highest_ * kKept);
    } else if (limit_.IsFinite()) {
      limit_ = limit_ * kRises;
      if (limit_ > highest_ * kEnd) limit_ = DataRate::PlusInfinity();
    }
  }

  size_t seconds_ = 0;
  // H.
  DataRate highest_ = DataRate::Zero();
  DataRate limit_ = DataRate::PlusInfinity();
};

}  // namespace

std::unique_ptr<GuardRule> MakeYieldRule() { return std::make_unique<YieldRule>(); }

}  // namespace weir
