// Counts the bytes in a sliding window of time.
#ifndef WEIR_SIMULATOR_REPAIR_BYTE_WINDOW_H_
#define WEIR_SIMULATOR_REPAIR_BYTE_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/sim_time.h"

namespace weir::sim {

// The window slides in steps of a twentieth of its length.
class ByteWindow {
 public:
  explicit ByteWindow(SimDuration window) : step_duration_(SimDuration::Nanos(window.ns() / kSteps)) {}

  void Add(int64_t bytes, SimTime now) {
    Advance(now);
    steps_[static_cast<size_t>(step_ % kSteps)] += bytes;
    sum_ += bytes;
  }
  int64_t Sum(SimTime now) {
    Advance(now);
    return sum_;
  }

 private:
  static constexpr int64_t kSteps = 20;

  void Advance(SimTime now) {
    if (now < step_end_) return;
    const int64_t now_step = now.ns() / step_duration_.ns();
    for (int64_t step = std::max(step_, now_step - kSteps) + 1; step <= now_step; ++step) {
      int64_t& bytes = steps_[static_cast<size_t>(step % kSteps)];
      sum_ -= bytes;
      bytes = 0;
    }
    step_ = now_step;
    step_end_ = kTimeZero + (now_step + 1) * step_duration_;
  }

  const SimDuration step_duration_;
  std::array<int64_t, kSteps> steps_{};
  int64_t step_ = 0;
  SimTime step_end_ = kTimeZero;
  int64_t sum_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REPAIR_BYTE_WINDOW_H_
