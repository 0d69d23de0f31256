// Timer of a controller that decides at even intervals.
#ifndef WEIR_DECISION_TIMER_H_
#define WEIR_DECISION_TIMER_H_

#include "weir/units.h"

namespace weir {

// Due times are multiples of the interval after the first one. If the host is late by an interval or more, they are
// counted from its call instead, so that decisions do not pile up.
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
  // Applies from the next decision on. Must be above zero.
  void set_interval(TimeDelta interval) { interval_ = interval; }
  // Returns true if a decision is due, and then waits for the next interval.
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

#endif  // WEIR_DECISION_TIMER_H_
