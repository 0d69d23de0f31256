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

}  // namespace

void DelayLevel::Add(const DelaySlot& slot) { ring_[slots_++ % kMostSlots] = slot; }

TimeDelta DelayLevel::Median(size_t youngest, size_t count) const {
  std::array<int64_t, kMostSlots> delays_us{};
  for (size_t i = 0; i < count; ++i) delays_us[i] = Back(youngest + i).minimum_delay.us();
  const auto middle = delays_us.begin() + static_cast<ptrdiff_t>(count / 2);
  std::nth_element(delays_us.begin(), middle, delays_us.begin() + static_cast<ptrdiff_t>(count));
  return TimeDelta::Micros(*middle);
}

TimeDelta DelayLevel::Drained(size_t count) const {
  const DelaySlot &first = Back(count - 1), &second = Back(count - 2);
  const DataRate rate = (first.size + second.size) / (first.duration + second.duration);
  if (rate <= DataRate::Zero()) return TimeDelta::Zero();
  const double allowance = kAllowance + kPacketsAllowed / static_cast<double>(first.packets + second.packets);
  double drained_s = 0;
  for (size_t age = count - 2; age-- > 0;) {
    const DelaySlot& slot = Back(age);
    drained_s += slot.duration.seconds() * (1 - allowance) - (slot.size / rate).seconds();
  }
  return TimeDelta::SecondsF(drained_s);
}

std::optional<TimeDelta> DelayLevel::Find(TimeDelta base) const {
  const TimeDelta lowest = base + kLowestLevel;
  const size_t known = std::min(slots_, kMostSlots);
  for (size_t count = 1; count <= known; ++count) {
    if (Back(count - 1).minimum_delay < lowest) return std::nullopt;
    if (count < kFewestSlots) continue;
    const TimeDelta newer = Median(0, count / 2), older = Median(count / 2, count - count / 2);
    const TimeDelta level = newer - base;
    const TimeDelta difference = newer > older ? newer - older : older - newer;
    if (difference > std::max(kFlat, level * kFlatShare)) continue;
    if (Drained(count) >= level * kTimesDrained) return newer;
  }
  return std::nullopt;
}

}  // namespace weir
