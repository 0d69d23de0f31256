// When a controller that decides at even intervals is due.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_DECISION_TIMER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_DECISION_TIMER_H_

#include "weir/units.h"

namespace weir {

// Due times keep their distance from the first one; after a host that came an interval late, or later, they begin anew
// from when it came, so that no decisions pile up.
class DecisionTimer {
 public:
  bool started() const { return due_ != Timestamp::PlusInfinity(); }
  // PlusInfinity before the start.
  Timestamp due() const { return due_; }

  // `interval` must be above zero.
  void Start(Timestamp now, TimeDelta interval) {
    interval_ = interval;
    due_ = now + interval;
  }
  // Counts from the next decision on; above zero.
  void set_interval(TimeDelta interval) { interval_ = interval; }
  // True when a decision is due; then waits for the next interval.
  [[nodiscard]] bool Take(Timestamp now) {
    if (now < due_) return false;
    due_ += interval_;
    if (due_ <= now) due_ = now + interval_;
    return true;
  }

 private:
  TimeDelta interval_ = TimeDelta::Zero();
  Timestamp due_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_DECISION_TIMER_H_
