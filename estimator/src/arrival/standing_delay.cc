#include "weir/arrival/standing_delay.h"

namespace weir {
namespace {

constexpr TimeDelta kSmallestRise = TimeDelta::Millis(30);
constexpr TimeDelta kGone = TimeDelta::Millis(10);
constexpr TimeDelta kLongQueue = TimeDelta::Millis(150);
constexpr TimeDelta kMemory = TimeDelta::Seconds(30);

}  // namespace

void StandingDelay::OnRise(Timestamp time, TimeDelta base, TimeDelta level) {
  if (!stands_) base_ = base;
  latest_rise_ = time;
  stands_ = stands_ || level - base_ >= kSmallestRise;
}

void StandingDelay::OnDelay(Timestamp time, TimeDelta delay, TimeDelta base) {
  stands_ = stands_ && delay >= base_ + kGone && delay <= base + kLongQueue && time - latest_rise_ <= kMemory;
}

}  // namespace weir
