#include "weir/remb_throttle.h"

#include <algorithm>

namespace weir {

void RembThrottle::OnPacket(Timestamp arrival_time, DataSize size) {
  latest_packets_[packets_++ % kSparsePackets] = arrival_time;
  received_ += size;
}

Timestamp RembThrottle::DueTime(DataRate target, Timestamp now) const {
  if (!sent_) return Timestamp::MinusInfinity();
  if (target == last_target_) return RepeatTime(now);
  const bool sparse = oldest_packet() < now - TimeDelta::Seconds(1);
  const bool small = target > last_target_ * (1 - kLargeChange) && target < last_target_ * (1 + kLargeChange);
  if (sparse && small) return last_time_ + kSparseInterval;
  return target <= last_target_ * (1 - kUrgentDecrease) ? Timestamp::MinusInfinity() : last_time_ + kMinInterval;
}

Timestamp RembThrottle::RepeatTime(Timestamp now) const {
  if (packets_ == 0 && now - first_time_ > kMaxAnnouncement) return Timestamp::PlusInfinity();
  return last_time_ + (!sent_after_packet_ || LooksUnheard(now) ? kMinInterval : kRepeatInterval);
}

bool RembThrottle::LooksUnheard(Timestamp now) const {
  const TimeDelta duration = std::max(now - last_time_, kMinInterval);
  return unheard_ < kMostUnheard && received_ >= kMinSizePerRemb &&
         received_ > last_target_ * duration * kUnheardExcess;
}

void RembThrottle::OnSent(DataRate target, Timestamp now) {
  if (!sent_) first_time_ = now;
  if (target != last_target_) {
    unheard_ = 0;
  } else if (sent_after_packet_ && LooksUnheard(now)) {
    ++unheard_;
  }
  sent_ = true;
  sent_after_packet_ = packets_ > 0;
  last_target_ = target;
  last_time_ = now;
  received_ = DataSize::Zero();
}

}  // namespace weir
