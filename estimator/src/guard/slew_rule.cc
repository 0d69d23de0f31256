// The rate in force, T, rises within dt at most to max(T, R, min(T 32^dt, 3 R + 100 kbps)), dt in seconds and at most
// 1, where R is the highest receive rate of the last second. In the first seconds of a call the limits are 100^dt and 6
// R, and the latter holds once there is an R.
//
// 1. Up to R the rate is free.
// 2. Beyond R it doubles at most once per REMB interval of 200 ms, and stays below 3 R + 100 kbps.
// 3. A sender that is limited by its application keeps T.
//
// From 300 kbps to 5 Mbps takes 0.8 s by the first bound; the second allows it where the sender follows.
#include "guard/guard_rule.h"

namespace weir {
namespace {

class SlewRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    return Limited(rate, GrownRate(facts, facts.starting ? kStartGrowth : kGrowth), facts);
  }
  Timestamp NextTimeout(const GuardFacts& facts, bool was_last) const override {
    return was_last ? facts.now + kGuardRepeatInterval : Timestamp::PlusInfinity();
  }
};

}  // namespace

std::unique_ptr<GuardRule> MakeSlewRule() { return std::make_unique<SlewRule>(); }

}  // namespace weir
