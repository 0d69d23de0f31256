// The path's own one-way delay, which queueing delay is measured against.
#ifndef WEIR_ARRIVAL_BASE_DELAY_H_
#define WEIR_ARRIVAL_BASE_DELAY_H_

#include <array>
#include <cstddef>

#include "weir/units.h"

namespace weir {

// The smallest delay of the last 30 s, in steps of 3 s.
class BaseDelay {
 public:
  void Restart(Timestamp time, TimeDelta delay);
  // Takes in a delay and returns the base. `time` must not be before that of an earlier call.
  TimeDelta Update(Timestamp time, TimeDelta delay);

 private:
  static constexpr TimeDelta kBucket = TimeDelta::Seconds(3);
  static constexpr size_t kBuckets = 10;

  std::array<TimeDelta, kBuckets> buckets_ = Empty();
  size_t current_ = 0;
  Timestamp bucket_end_ = Timestamp::MinusInfinity();
  TimeDelta minimum_ = TimeDelta::PlusInfinity();

  static constexpr std::array<TimeDelta, kBuckets> Empty() {
    constexpr TimeDelta kNone = TimeDelta::PlusInfinity();
    return {kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  }
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_BASE_DELAY_H_
