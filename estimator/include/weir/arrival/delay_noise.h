// How much a delay changes from one value to the next without direction: jitter, not a queue that grows or drains.
#ifndef WEIR_ARRIVAL_DELAY_NOISE_H_
#define WEIR_ARRIVAL_DELAY_NOISE_H_

#include <array>
#include <cstddef>

namespace weir {

class DelayNoise {
 public:
  // A delay in seconds: the smallest of an interval.
  void Add(double delay_s) { delays_s_[delays_++ % kDelays] = delay_s; }
  // The median of |a - 2 b + c| over neighbours among the last 32 delays, in seconds; a delay that rises or falls
  // evenly has none. 0 before there are three.
  double Seconds() const;

 private:
  static constexpr size_t kDelays = 32;

  std::array<double, kDelays> delays_s_{};
  size_t delays_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_DELAY_NOISE_H_
