// The guard's limit on rises: no more than a multiple of what arrives.
#ifndef WEIR_GUARD_SLEW_RULE_H_
#define WEIR_GUARD_SLEW_RULE_H_

#include "weir/guard/guard_facts.h"
#include "weir/units.h"

namespace weir {

// The rate in force, T, may rise within dt to max(T, R, min(T 32^dt, 3 R + 100 kbps)), dt in seconds and at most 1,
// where R is the highest receive rate of the last second; in the first seconds of a call 100^dt and 6 R, without the
// latter before there is an R. Up to what really arrives the way is free; beyond it the rate doubles at most once per
// REMB interval of 200 ms, and never passes three times what arrives, but a sender that is limited by its application
// keeps what it has. From 300 kbps to 5 Mbps takes 0.8 s by the first bound, and the second lets it where the sender
// follows.
class SlewRule {
 public:
  static DataRate Limit(const GuardFacts& facts) { return Grown(facts, facts.starting ? kStartGrowth : kGrowth); }
  // What `floor` holds a start up to: the limit of later.
  static DataRate StartFloor(const GuardFacts& facts) { return Grown(facts, {kGrowth.factor_per_second, 3, true}); }

 private:
  struct Growth {
    double factor_per_second;
    double receive_rate_multiple;
    // Packets come, but not yet for long enough to be measured: the multiple does not count.
    bool unmeasured;
  };
  static constexpr Growth kGrowth = {32, 3, false};
  static constexpr Growth kStartGrowth = {100, 6, true};

  static DataRate Grown(const GuardFacts& facts, const Growth& growth);
};

}  // namespace weir

#endif  // WEIR_GUARD_SLEW_RULE_H_
