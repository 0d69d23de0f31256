// How much a delay changes from one value to the next without direction: jitter, not a queue that grows or drains.
#ifndef WEIR_ARRIVAL_DELAY_NOISE_H_
#define WEIR_ARRIVAL_DELAY_NOISE_H_

#include <cmath>
#include <cstddef>

#include "weir/arrival/sliding_median.h"

namespace weir {

class DelayNoise {
 public:
  // A delay in seconds: the smallest of an interval.
  void Add(double delay_s) {
    if (delays_++ >= 2) bends_s_.Add(std::abs(delay_s - 2 * last_delay_s_ + delay_before_s_));
    delay_before_s_ = last_delay_s_;
    last_delay_s_ = delay_s;
  }
  // The median of |a - 2 b + c| over neighbours among the last 32 delays, in seconds; a delay that rises or falls
  // evenly has none. 0 before there are three.
  double Seconds() const { return bends_s_.median(); }

 private:
  static constexpr size_t kDelays = 32;

  double last_delay_s_ = 0;
  double delay_before_s_ = 0;
  size_t delays_ = 0;
  SlidingMedian<kDelays - 2> bends_s_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_DELAY_NOISE_H_
