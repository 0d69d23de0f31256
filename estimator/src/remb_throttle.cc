#include "weir/remb_throttle.h"

namespace weir {

Timestamp RembThrottle::DueTime(DataRate target, Timestamp now) const {
  if (!sent_) return Timestamp::MinusInfinity();
  if (target == last_target_) return last_time_ + kRepeatInterval;
  const bool sparse = latest_packets_[packets_ % kSparsePackets] < now - TimeDelta::Seconds(1);
  const bool small = target > last_target_ * (1 - kLargeChange) && target < last_target_ * (1 + kLargeChange);
  if (sparse && small) return last_time_ + kSparseInterval;
  return target <= last_target_ * (1 - kUrgentDecrease) ? Timestamp::MinusInfinity() : last_time_ + kMinInterval;
}

void RembThrottle::OnSent(DataRate target, Timestamp now) {
  sent_ = true;
  last_target_ = target;
  last_time_ = now;
}

}  // namespace weir
