// A mean over the recent past that forgets.
#ifndef WEIR_POOL_TIME_MEAN_H_
#define WEIR_POOL_TIME_MEAN_H_

#include <cmath>

namespace weir {

// Exponential in time: what is as old as the time constant counts e times less than the present.
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

}  // namespace weir

#endif  // WEIR_POOL_TIME_MEAN_H_
