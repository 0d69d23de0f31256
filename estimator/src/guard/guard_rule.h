// Interface of the guard's rules. A new rule is a file NAME_rule.cc in this folder and one row of guard_rules.cc.
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
  // The arrivals are those that the receiver reports.
  bool reported = false;
  Timestamp now = Timestamp::MinusInfinity();
  // Time since the decision before; not negative.
  TimeDelta elapsed = TimeDelta::Zero();
  // The rate in force since the decision before.
  DataRate rate = DataRate::Zero();
  // The rate that was in force when the latest packets were noticed, or before the first.
  DataRate rate_at_packets = DataRate::Zero();
  // The highest rate that a probe has shown.
  DataRate probed = DataRate::Zero();
  // The call is in its first seconds and the sender has not reached the rate yet. Set by the rule that detects it, for
  // the rules after it.
  bool starting = false;
  // A probe counts up to this rate. Set by the rule that bounds it.
  DataRate highest_probe = DataRate::PlusInfinity();
  // A lower rate has ended losses before, and is held. Set by the rules that hold it, for the rule that judges losses.
  bool rate_causes_losses = false;
  // The loss ratio that a lower rate did not end. Set by the rule that measures it.
  double loss_ratio_at_any_rate = 0;
  // Losses do not depend on the rate, as of this decision. Set by the rule that judges them.
  bool omits_losses = false;
};

class GuardRule {
 public:
  virtual ~GuardRule() = default;

  // Returns `rate`, which the rules before it let pass, or the rate that replaces it.
  virtual DataRate Apply(DataRate rate, GuardFacts& facts) = 0;
  // When the rule must run again although no controller decides. Called after all rules ran; `facts.rate_at_packets` is
  // up to date, `was_last` is true for the last rule that changed the rate.
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

// Rules run again after this time while they hold a rate back.
inline constexpr TimeDelta kGuardRepeatInterval = TimeDelta::Millis(100);

// The smaller of `rate` and `limit`, but a limit below the minimum counts as the minimum.
DataRate Limited(DataRate rate, DataRate limit, const GuardFacts& facts);

// A link stops again and again when ArrivalHistory::RecurringStop is so long.
inline constexpr TimeDelta kRecurringStop = TimeDelta::Millis(80);
// Packets that waited for so much longer than it stops had a queue before them, and this counts for the time after.
inline constexpr TimeDelta kBeyondStop = TimeDelta::Millis(120);
inline constexpr TimeDelta kAfterQueue = TimeDelta::Seconds(3);

// So long a time without packets may be an outage.
inline constexpr TimeDelta kMinSilence = TimeDelta::Millis(500);

// The rate in force, or, at the end of such a time without loss or queue, the rate before it: the sender was idle.
DataRate RateBeforeIdle(const GuardFacts& facts);

// Growth of that rate, T, within the time since the decision before, dt in seconds and at most 1:
// max(T, R, min(T f^dt, m R + 100 kbps)), R being the highest receive rate of the last second. `unmeasured`: without an
// R it is T f^dt.
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
