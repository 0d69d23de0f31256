// A value that is piecewise constant over time, optionally periodic: a link's delay, loss ratio or capacity.
#ifndef WEIR_SIMULATOR_CORE_PIECEWISE_CONSTANT_H_
#define WEIR_SIMULATOR_CORE_PIECEWISE_CONSTANT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/sim_time.h"

namespace weir::sim {

template <class Value>
class PiecewiseConstant {
 public:
  // A value that never changes.
  PiecewiseConstant(Value value) : values_{value} {}  // NOLINT(google-explicit-constructor): a value is one
  // `values[i]` holds from `start_times[i]` on. The times start at 0 and strictly increase, there are as many
  // values, and `period`, if any, is after the last time; without it the last value holds forever.
  PiecewiseConstant(std::vector<SimTime> start_times, std::vector<Value> values, std::optional<SimDuration> period)
      : start_times_(std::move(start_times)), values_(std::move(values)), period_(period) {}

  bool is_constant() const { return values_.size() == 1; }

  // `time` is at least 0. Fast if successive calls have times close to each other.
  Value At(SimTime time) const { return is_constant() ? values_[0] : values_[Find(time).index]; }

  // The mean of `number(value)` from 0 to `duration` (> 0).
  template <class Number>
  double Mean(SimDuration duration, Number number) const {
    if (is_constant()) return number(values_[0]);
    const SimDuration period = period_.value_or(duration);
    const int64_t whole_periods = duration.ns() / period.ns();
    const SimDuration rest = SimDuration::Nanos(duration.ns() % period.ns());
    return (static_cast<double>(whole_periods) * Integral(period, number) + Integral(rest, number)) /
           static_cast<double>(duration.ns());
  }

  bool operator==(const PiecewiseConstant& other) const {
    return start_times_ == other.start_times_ && values_ == other.values_ && period_ == other.period_;
  }

 protected:
  // The position of a time: segment `index` of the period that starts at `period_start`, a time since 0.
  struct Position {
    size_t index = 0;
    SimDuration period_start = SimDuration::Zero();
  };

  Position Find(SimTime time) const {
    // Most lookups are in the segment of the previous one or soon after it.
    constexpr int kSteps = 4;
    if (time >= start_times_[cursor_.index] + cursor_.period_start) {
      for (int step = 0; step < kSteps; ++step) {
        if (time < SegmentEnd(cursor_)) return cursor_;
        Advance(cursor_);
      }
    }
    const SimDuration period_start =
        period_ ? SimDuration::Nanos(time.ns() - time.ns() % period_->ns()) : SimDuration::Zero();
    cursor_ = {IndexAt(time - period_start), period_start};
    return cursor_;
  }
  // The segment at a time within the first period.
  size_t IndexAt(SimTime time) const {
    const auto later = std::upper_bound(start_times_.begin(), start_times_.end(), time);
    return static_cast<size_t>(later - start_times_.begin()) - 1;
  }
  SimTime SegmentEnd(const Position& position) const {
    if (position.index + 1 < start_times_.size()) return start_times_[position.index + 1] + position.period_start;
    return period_ ? kTimeZero + position.period_start + *period_ : kNever;
  }
  void Advance(Position& position) const {
    if (++position.index < start_times_.size()) return;
    position.index = 0;
    position.period_start += *period_;
  }

  std::vector<SimTime> start_times_{kTimeZero};
  std::vector<Value> values_;
  std::optional<SimDuration> period_;

 private:
  // The integral of `number(value)` from 0 to `duration`, which is at most the period, over time in ns.
  template <class Number>
  double Integral(SimDuration duration, Number number) const {
    const SimTime end = kTimeZero + duration;
    double integral = 0;
    for (size_t i = 0; i < values_.size() && start_times_[i] < end; ++i) {
      const SimTime stop = i + 1 < values_.size() ? std::min(start_times_[i + 1], end) : end;
      integral += number(values_[i]) * static_cast<double>((stop - start_times_[i]).ns());
    }
    return integral;
  }

  mutable Position cursor_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_PIECEWISE_CONSTANT_H_
