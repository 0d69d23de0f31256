#include "weir/guard/receive_rate.h"

#include <algorithm>

namespace weir {
namespace {

constexpr TimeDelta kMinSlot = TimeDelta::Millis(200);
constexpr TimeDelta kMemory = TimeDelta::Seconds(1);

}  // namespace

void ReceiveRate::Update(Timestamp now) {
  const TimeDelta duration = now - slot_start_;
  if (duration < kMinSlot) return;
  // After a long pause between calls the older slots are history.
  if (duration >= kMemory) rates_bps_.fill(0);
  slot_ = (slot_ + 1) % kSlots;
  rates_bps_[slot_] = (slot_size_ / duration).bps();
  slot_size_ = DataSize::Zero();
  slot_start_ = now;
}

DataRate ReceiveRate::Highest() const {
  return DataRate::BitsPerSecond(*std::max_element(rates_bps_.begin(), rates_bps_.end()));
}

DataRate ReceiveRate::Latest() const {
  return DataRate::BitsPerSecond((rates_bps_[slot_] + rates_bps_[(slot_ + kSlots - 1) % kSlots]) / 2);
}

}  // namespace weir
