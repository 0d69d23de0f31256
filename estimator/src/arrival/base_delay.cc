#include "weir/arrival/base_delay.h"

#include <algorithm>
#include <cstdint>

namespace weir {

void BaseDelay::Restart(Timestamp time, TimeDelta delay) {
  buckets_ = Empty();
  current_ = 0;
  buckets_[0] = minimum_ = delay;
  bucket_end_ = time + kBucket;
}

TimeDelta BaseDelay::Update(Timestamp time, TimeDelta delay) {
  if (time >= bucket_end_) {
    const int64_t steps = (time - bucket_end_).us() / kBucket.us() + 1;
    for (int64_t i = 0; i < std::min<int64_t>(steps, kBuckets); ++i) {
      current_ = (current_ + 1) % kBuckets;
      buckets_[current_] = TimeDelta::PlusInfinity();
    }
    bucket_end_ += TimeDelta::Micros(steps * kBucket.us());
    minimum_ = *std::min_element(buckets_.begin(), buckets_.end());
  }
  buckets_[current_] = std::min(buckets_[current_], delay);
  minimum_ = std::min(minimum_, delay);
  return minimum_;
}

}  // namespace weir
