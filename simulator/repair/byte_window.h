// Counts the bytes in a sliding window of time.
#ifndef WEIR_SIMULATOR_REPAIR_BYTE_WINDOW_H_
#define WEIR_SIMULATOR_REPAIR_BYTE_WINDOW_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace weir::sim {

// The window slides in steps of a twentieth of its length.
class ByteWindow {
 public:
  explicit ByteWindow(int64_t window_ns) : step_ns_(window_ns / kSteps) {}

  void Add(int64_t bytes, int64_t now_ns) {
    Advance(now_ns);
    steps_[static_cast<size_t>(step_ % kSteps)] += bytes;
    sum_ += bytes;
  }
  int64_t Sum(int64_t now_ns) {
    Advance(now_ns);
    return sum_;
  }

 private:
  static constexpr int64_t kSteps = 20;

  void Advance(int64_t now_ns) {
    if (now_ns < step_end_ns_) return;
    const int64_t now_step = now_ns / step_ns_;
    for (int64_t step = std::max(step_, now_step - kSteps) + 1; step <= now_step; ++step) {
      int64_t& bytes = steps_[static_cast<size_t>(step % kSteps)];
      sum_ -= bytes;
      bytes = 0;
    }
    step_ = now_step;
    step_end_ns_ = (now_step + 1) * step_ns_;
  }

  const int64_t step_ns_;
  std::array<int64_t, kSteps> steps_{};
  int64_t step_ = 0;
  int64_t step_end_ns_ = 0;
  int64_t sum_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REPAIR_BYTE_WINDOW_H_
