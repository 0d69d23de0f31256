#include "weir/arrival/delay_level.h"

#include <algorithm>

namespace weir {
namespace {

// The delays must be so far above the base, and so far apart at most from the older half to the newer, the larger of
// the two.
constexpr TimeDelta kLowestLevel = TimeDelta::Millis(4);
constexpr TimeDelta kFlat = TimeDelta::Millis(3);
constexpr double kFlatShare = 0.15;
// A rate that is lower by less than this, and by less than two packets of the first slots, has not fallen.
constexpr double kAllowance = 0.1;
constexpr double kPacketsAllowed = 2;
// A queue would have drained this many times.
constexpr double kTimesDrained = 2;

// How long the rate of the first two slots would have needed for what the time of others did without.
TimeDelta Drained(const DelaySlot& first, const DelaySlot& second, TimeDelta duration, DataSize size) {
  const DataRate rate = (first.size + second.size) / (first.duration + second.duration);
  if (rate <= DataRate::Zero()) return TimeDelta::Zero();
  const double allowance = kAllowance + kPacketsAllowed / static_cast<double>(first.packets + second.packets);
  return duration * (1.0 - allowance) - size / rate;
}

}  // namespace

void DelayLevel::Add(const DelaySlot& slot) { ring_[slots_++ % kMostSlots] = slot; }

TimeDelta DelayLevel::Median(size_t youngest, size_t count) const {
  std::array<int64_t, kMostSlots> delays_us{};
  for (size_t i = 0; i < count; ++i) delays_us[i] = Back(youngest + i).minimum_delay.us();
  const auto middle = delays_us.begin() + static_cast<ptrdiff_t>(count / 2);
  std::nth_element(delays_us.begin(), middle, delays_us.begin() + static_cast<ptrdiff_t>(count));
  return TimeDelta::Micros(*middle);
}

std::optional<TimeDelta> DelayLevel::Find(TimeDelta base) const {
  const size_t known = std::min(slots_, kMostSlots);
  TimeDelta lowest = TimeDelta::PlusInfinity();
  // Of all slots but the two oldest.
  TimeDelta duration = TimeDelta::Zero();
  DataSize size = DataSize::Zero();
  for (size_t count = 1; count <= known; ++count) {
    lowest = std::min(lowest, Back(count - 1).minimum_delay);
    if (lowest < base + kLowestLevel) return std::nullopt;
    if (count < 3) continue;
    duration = duration + Back(count - 3).duration;
    size += Back(count - 3).size;
    if (count < kFewestSlots) continue;
    const TimeDelta drained = Drained(Back(count - 1), Back(count - 2), duration, size);
    // Medians cost more than all the rest, and are not below the lowest.
    if (drained < (lowest - base) * kTimesDrained) continue;
    const TimeDelta newer = Median(0, count / 2), older = Median(count / 2, count - count / 2);
    const TimeDelta level = newer - base;
    const TimeDelta difference = newer > older ? newer - older : older - newer;
    if (difference <= std::max(kFlat, level * kFlatShare) && drained >= level * kTimesDrained) return newer;
  }
  return std::nullopt;
}

}  // namespace weir
