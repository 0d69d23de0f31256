// PolyCC's pilot-copilot filter: the library's policies for it, and the measure of trust in a pool's pilot.
#ifndef WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_
#define WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_

#include <cmath>
#include <span>

#include "weir/interval_statistics.h"
#include "weir/pool_controller.h"
#include "weir/pool_specification.h"
#include "weir/units.h"

namespace weir {

// Null for kFixed and kUser.
PilotPolicy MakePilotPolicy(PilotPolicyKind kind);

// --- Trust

// An exponential mean over time: a value as old as the time constant counts e times less than the present one.
class TimeMean {
 public:
  explicit TimeMean(double time_constant_s) : time_constant_s_(time_constant_s) {}

  double value() const { return value_; }
  // `value` held for the last `duration_s`, 0 or more.
  void Add(double value, double duration_s) {
    value_ += (value - value_) * (1 - std::exp(-duration_s / time_constant_s_));
  }

 private:
  double time_constant_s_;
  double value_ = 0;
};

// Measures how far a controller's target is from those of all others.
class Disagreement {
 public:
  // `advice` and `others`, all finite and above 0, held for the last `duration_s`. Changes nothing without others.
  void Add(DataRate advice, std::span<const DataRate> others, double duration_s);
  // Mean distance over the last second, in powers of two, from the advice to the nearest of the others; 0 while it is
  // among them.
  double powers_of_two() const { return distance_.value(); }

 private:
  TimeMean distance_{1.0};
};

// Detects a controller that starves the path: for half a second there was neither a queue nor a loss of 2 % above what
// the path loses at any rate, the sender uses the target, all others would increase by 2 % or more, and the controller
//
// - requests no more than the rate in force, or
// - requested, within half a second, less than all others and less than a rise of 4 % a second since the path became
//   clear would have reached: advice that oscillates, or stays slightly above the target, also starves the path.
//
// There is no queue if a delay of the last half second was below 4 ms plus 1.5 times the delay noise (40 ms at most): a
// full link always has a queue of some milliseconds, and a controller that does not increase there is right. Jitter
// hides an empty queue, and what others would do, in some intervals, so one interval in half a second is enough. The
// sender's use of the target may be a mean over a second: at the minimum rate most intervals have no packets.
class Starvation {
 public:
  // `advice` and `others`, all above 0, are of `now`. `target` was in force during the previous interval, which
  // `statistics` describe. Without others there is no starvation.
  void Add(DataRate advice, std::span<const DataRate> others, DataRate target, const IntervalStatistics& statistics,
           Timestamp now);
  // Share of the last seconds, 0 to 1.
  double share() const { return share_.value(); }

 private:
  Timestamp queue_was_short_ = Timestamp::MinusInfinity();
  Timestamp others_rose_ = Timestamp::MinusInfinity();
  Timestamp not_clear_ = Timestamp::MinusInfinity();
  // The advice when the path became clear, plus its growth since.
  double due_bps_ = 0;
  Timestamp fell_behind_ = Timestamp::MinusInfinity();
  TimeMean received_bps_{1.0};
  TimeMean share_{2.0};
};

// Trust in the specification's pilot: the smaller of two signals, each 1 up to a first value, 0 from a second value on,
// and linear in between:
//   disagreement  1 to 1.5 powers of two away from all others (`Disagreement`)
//   starvation    0.3 to 0.8 of the last seconds (`Starvation`)
// The values were fitted on random scenarios of the training split.
class TrustMeasure {
 public:
  // Returns the pilot's trust, 0 to 1. Called each time before the policy is.
  double Update(const PoolView& view);

 private:
  Disagreement disagreement_;
  Starvation starvation_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_
