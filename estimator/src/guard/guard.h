// The guard: runs its rules on each rate of a controller.
#ifndef WEIR_GUARD_GUARD_H_
#define WEIR_GUARD_GUARD_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "arrival/arrival_history.h"
#include "guard/guard_rule.h"
#include "weir/guard.h"
#include "weir/network_types.h"
#include "weir/units.h"

namespace weir {

class Guard {
 public:
  // `arrivals` must outlive the guard. See GuardFacts for `reported`.
  explicit Guard(const ArrivalHistory& arrivals, const GuardOptions& options = {}, bool reported = false);

  struct Result {
    DataRate rate = DataRate::Zero();
    // The last rule that changed the rate, as an index of GuardRules(); nothing if none did.
    std::optional<size_t> rule;
  };
  // The first call starts the guard with the start rate in force; later calls change the bounds. Returns the rate in
  // force and the rule that changed it.
  Result SetConstraints(const TargetRateConstraints& constraints, Timestamp now);
  // Returns the rate in force from now on. `now` must not be before that of an earlier call, and OnDecision(now) of the
  // arrivals must have been called.
  Result Apply(DataRate wanted, Timestamp now);
  // Raises the rate in force to `rate`, which a probe has shown.
  void OnProbeResult(DataRate rate);
  // The highest rate worth a probe, as of the latest Apply().
  DataRate highest_probe() const { return highest_probe_; }
  // Time at which to call Apply() again even if no controller has decided, because a rule limits the rate or a feedback
  // timeout may begin.
  Timestamp next_timeout() const { return next_timeout_; }

  // See GuardFacts; as of the latest Apply().
  double loss_ratio_at_any_rate() const { return loss_ratio_at_any_rate_; }
  bool omits_losses() const { return omits_losses_; }

  const GuardCounters& counters() const { return counters_; }

 private:
  struct ActiveRule {
    size_t index;
    std::unique_ptr<GuardRule> rule;
  };

  GuardFacts Facts(Timestamp now) const;

  const ArrivalHistory& arrivals_;
  const bool reported_;
  std::vector<ActiveRule> rules_;
  TargetRateConstraints constraints_;
  GuardCounters counters_{};
  DataRate rate_ = DataRate::Zero();
  DataRate rate_at_packets_ = DataRate::Zero();
  DataRate probed_ = DataRate::Zero();
  double loss_ratio_at_any_rate_ = 0;
  bool omits_losses_ = false;
  // ArrivalTotals::packets_lost at the latest Apply().
  int64_t lost_ = 0;
  DataRate highest_probe_ = DataRate::PlusInfinity();
  Timestamp last_apply_ = Timestamp::MinusInfinity();
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_GUARD_GUARD_H_
