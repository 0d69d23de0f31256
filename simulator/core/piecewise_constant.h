// A value that is piecewise constant over time, optionally periodic: a link's delay, loss ratio or capacity.
#ifndef WEIR_SIMULATOR_CORE_PIECEWISE_CONSTANT_H_
#define WEIR_SIMULATOR_CORE_PIECEWISE_CONSTANT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace weir::sim {

template <class Value>
class PiecewiseConstant {
 public:
  // A value that never changes.
  PiecewiseConstant(Value value) : values_{value} {}  // NOLINT(google-explicit-constructor): a number is one
  // `values[i]` holds from `start_times_ns[i]` on. The times start at 0 and strictly increase, there are as many
  // values, and `period_ns`, if any, is after the last time; without it the last value holds forever.
  PiecewiseConstant(std::vector<int64_t> start_times_ns, std::vector<Value> values, std::optional<int64_t> period_ns)
      : start_times_ns_(std::move(start_times_ns)), values_(std::move(values)), period_ns_(period_ns) {}

  bool is_constant() const { return values_.size() == 1; }

  // `time_ns` is at least 0. Fast if successive calls have times close to each other.
  Value At(int64_t time_ns) const { return is_constant() ? values_[0] : values_[Find(time_ns).index]; }

  // The mean from 0 to `duration_ns` (> 0).
  double Mean(int64_t duration_ns) const {
    if (is_constant()) return static_cast<double>(values_[0]);
    const int64_t period_ns = period_ns_.value_or(duration_ns);
    const int64_t whole_periods = duration_ns / period_ns;
    return (static_cast<double>(whole_periods) * Integral(period_ns) + Integral(duration_ns % period_ns)) /
           static_cast<double>(duration_ns);
  }

  bool operator==(const PiecewiseConstant& other) const {
    return start_times_ns_ == other.start_times_ns_ && values_ == other.values_ && period_ns_ == other.period_ns_;
  }

 protected:
  static constexpr int64_t kForEver = std::numeric_limits<int64_t>::max();

  // The position of a time: segment `index` of the period that starts at `period_start_ns`.
  struct Position {
    size_t index = 0;
    int64_t period_start_ns = 0;
  };

  Position Find(int64_t time_ns) const {
    // Most lookups are in the segment of the previous one or soon after it.
    constexpr int kSteps = 4;
    if (time_ns >= cursor_.period_start_ns + start_times_ns_[cursor_.index]) {
      for (int step = 0; step < kSteps; ++step) {
        if (time_ns < SegmentEnd(cursor_)) return cursor_;
        Advance(cursor_);
      }
    }
    const int64_t period_start_ns = period_ns_ ? time_ns - time_ns % *period_ns_ : 0;
    cursor_ = {IndexAt(time_ns - period_start_ns), period_start_ns};
    return cursor_;
  }
  // The segment at a time within the first period.
  size_t IndexAt(int64_t time_ns) const {
    const auto later = std::upper_bound(start_times_ns_.begin(), start_times_ns_.end(), time_ns);
    return static_cast<size_t>(later - start_times_ns_.begin()) - 1;
  }
  int64_t SegmentEnd(const Position& position) const {
    if (position.index + 1 < start_times_ns_.size())
      return position.period_start_ns + start_times_ns_[position.index + 1];
    return period_ns_ ? position.period_start_ns + *period_ns_ : kForEver;
  }
  void Advance(Position& position) const {
    if (++position.index < start_times_ns_.size()) return;
    position.index = 0;
    position.period_start_ns += *period_ns_;
  }

  std::vector<int64_t> start_times_ns_{0};
  std::vector<Value> values_;
  std::optional<int64_t> period_ns_;

 private:
  // The integral from 0 to `end_ns`, which is at most the period, in value times ns.
  double Integral(int64_t end_ns) const {
    double integral = 0;
    for (size_t i = 0; i < values_.size() && start_times_ns_[i] < end_ns; ++i) {
      const int64_t stop_ns = i + 1 < values_.size() ? std::min(start_times_ns_[i + 1], end_ns) : end_ns;
      integral += static_cast<double>(values_[i]) * static_cast<double>(stop_ns - start_times_ns_[i]);
    }
    return integral;
  }

  mutable Position cursor_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_PIECEWISE_CONSTANT_H_
