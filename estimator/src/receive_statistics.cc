#include "weir/receive_statistics.h"

#include <algorithm>

namespace weir {

ReceiveStatistics::Sums& ReceiveStatistics::Sums::operator+=(const Sums& other) {
  packets += other.packets;
  size += other.size;
  packets_lost += other.packets_lost;
  queueing_delay += other.queueing_delay;
  packets_with_delay += other.packets_with_delay;
  return *this;
}

namespace {

// Of a remainder that is never negative.
constexpr int64_t FloorDivide(int64_t a, int64_t b) { return a % b < 0 ? a / b - 1 : a / b; }

}  // namespace

int64_t ReceiveStatistics::SlotNumber(Timestamp time) { return FloorDivide(time.us(), kSlot.us()); }

void ReceiveStatistics::OnArrival(const Arrival& arrival) {
  const Sums one{.packets = 1,
                 .size = arrival.packet.size(),
                 .packets_lost = arrival.lost_change,
                 .queueing_delay = arrival.has_delay ? arrival.queueing_delay : TimeDelta::Zero(),
                 .packets_with_delay = arrival.has_delay ? 1 : 0};
  const int64_t number = SlotNumber(arrival.packet.arrival_time);
  constexpr auto kCount = static_cast<int64_t>(kSlots);
  Slot& slot = slots_[static_cast<size_t>(number - FloorDivide(number, kCount) * kCount)];
  if (slot.number != number) slot = {.number = number, .sums = {}};
  slot.sums += one;
  total_ += one;
}

ReceiveStatistics::LastSecond ReceiveStatistics::Look(Timestamp now) const {
  LastSecond result;
  if (!IsTime(now)) return result;
  const int64_t last = SlotNumber(now), first = last - static_cast<int64_t>(kSlots) + 1;
  Sums sums;
  for (const Slot& slot : slots_) {
    if (slot.number >= first && slot.number <= last) sums += slot.sums;
  }
  const TimeDelta duration = TimeDelta::Micros(now.us() - first * kSlot.us());
  result.receive_rate = sums.size / duration;
  if (sums.packets_with_delay > 0)
    result.queueing_delay = TimeDelta::Micros(sums.queueing_delay.us() / sums.packets_with_delay);
  const int64_t lost = std::max<int64_t>(sums.packets_lost, 0);
  if (lost > 0) result.loss_ratio = static_cast<double>(lost) / static_cast<double>(lost + sums.packets);
  return result;
}

}  // namespace weir
