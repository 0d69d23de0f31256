// Interface of the guard's rules. A new rule is a file NAME_rule.cc in this folder, one row of guard_rules.cc and one
// line of BUILD.gn; its tests are in tests/estimator/guard.
#ifndef WEIR_GUARD_GUARD_RULE_H_
#define WEIR_GUARD_GUARD_RULE_H_

#include <memory>

#include "arrival/arrival_history.h"
#include "weir/guard.h"
#include "weir/network_types.h"
#include "weir/units.h"

namespace weir {

// Input of the rules at a decision.
struct GuardFacts {
  const ArrivalHistory& arrivals;
  TargetRateConstraints constraints = {};
  // True if the remote end reports the arrivals.
  bool reported = false;
  Timestamp now = Timestamp::MinusInfinity();
  // Time since the previous decision; not negative.
  TimeDelta elapsed = TimeDelta::Zero();
  // The rate in force since the previous decision.
  DataRate rate = DataRate::Zero();
  // The rate in force when the latest packets were noticed, or before the first packet.
  DataRate rate_at_packets = DataRate::Zero();
  // The highest rate that a probe has shown.
  DataRate probed = DataRate::Zero();
  // True while the call is in its first seconds and the sender has not reached the rate yet. Set by the rule that
  // detects it, for the rules after it.
  bool starting = false;
  // The rate before a dip of the capacity: during the dip if it was expected, and when its queue has drained; else
  // zero. Set by the rule that holds it, for the rules after it.
  DataRate rate_before_dip = DataRate::Zero();
  // The highest rate that a probe can show. Set by the rule that bounds it.
  DataRate highest_probe = DataRate::PlusInfinity();
  // True while a rule holds a lower rate that ended losses. Set by that rule, for the rule that judges losses.
  bool rate_causes_losses = false;
  // The loss ratio that a lower rate did not end. Set by the rule that measures it.
  double loss_ratio_at_any_rate = 0;
  // True while losses are those of the path, after LossProof. Set by the rule that proves it.
  bool losses_are_proven = false;
  // True if losses do not depend on the rate at present. Set by the rule that judges them.
  bool omits_losses = false;
};

class GuardRule {
 public:
  virtual ~GuardRule() = default;

  // Returns `rate`, the result of the rules before this one, or the rate that replaces it.
  virtual DataRate Apply(DataRate rate, GuardFacts& facts) = 0;
  // Time at which the rule must run again even if no controller decides. Called after all rules have run.
  // `facts.rate_at_packets` is up to date, and `was_last` is true for the last rule that changed the rate.
  virtual Timestamp NextTimeout(const GuardFacts& facts, bool was_last) const {
    static_cast<void>(facts), static_cast<void>(was_last);
    return Timestamp::PlusInfinity();
  }
};

struct GuardRuleRow {
  GuardRuleInfo info;
  std::unique_ptr<GuardRule> (*make)() = nullptr;
};
std::span<const GuardRuleRow> GuardRuleTable();

// Rules run again after this time while they limit the rate.
inline constexpr TimeDelta kGuardRepeatInterval = TimeDelta::Millis(100);

// The smaller of `rate` and `limit`. A limit below the minimum counts as the minimum.
DataRate Limited(DataRate rate, DataRate limit, const GuardFacts& facts);

// A link stops repeatedly if ArrivalHistory::RecurringStop() is at least this long.
inline constexpr TimeDelta kRecurringStop = TimeDelta::Millis(80);
// Packets that waited this much longer than the stop had a queue before them. The second is how long this counts.
inline constexpr TimeDelta kBeyondStop = TimeDelta::Millis(120);
inline constexpr TimeDelta kAfterQueue = TimeDelta::Seconds(3);

// The shortest time without packets that may be an outage.
inline constexpr TimeDelta kMinSilence = TimeDelta::Millis(500);

// The rate in force. At the end of a gap that the sender made, without loss or queue, the rate before it.
DataRate RateBeforeIdle(const GuardFacts& facts);

// Growth of that rate, T, during dt, the time since the previous decision in seconds, at most 1:
// max(T, R, min(T f^dt, m R + 100 kbps)), with R the highest receive rate of the last second. If `unmeasured`, it is
// T f^dt without an R.
struct Growth {
  double factor_per_second;      // f
  double receive_rate_multiple;  // m
  bool unmeasured;
};
inline constexpr Growth kGrowth = {32, 3, false};
inline constexpr Growth kStartGrowth = {100, 6, true};
DataRate GrownRate(const GuardFacts& facts, const Growth& growth);

}  // namespace weir

#endif  // WEIR_GUARD_GUARD_RULE_H_
