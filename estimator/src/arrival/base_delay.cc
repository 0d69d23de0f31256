#include "weir/arrival/base_delay.h"

#include <algorithm>
#include <cstdint>

namespace weir {
namespace {

constexpr TimeDelta kShortestSlot = TimeDelta::Millis(100);
constexpr int64_t kFewestPackets = 6;
constexpr size_t kSlotsInLong = 8;
// A path that delivers nothing for so long may have stalled: the time does not count as a low rate.
constexpr TimeDelta kStall = TimeDelta::Millis(500);
constexpr TimeDelta kNone = TimeDelta::PlusInfinity();

}  // namespace

void BaseDelay::Restart(Timestamp time, TimeDelta delay) {
  base_ = delay;
  slot_ = {};
  slot_start_ = latest_ = time;
  slots_ = 0;
  level_.Clear();
  long_slot_ = {};
  long_level_.Clear();
  standing_ = {};
  buckets_us_.fill(kNone.us());
  bucket_ = 0;
  bucket_end_ = time + kBucket;
}

TimeDelta BaseDelay::Update(Timestamp time, TimeDelta delay, DataSize size) {
  const TimeDelta gap = time - latest_;
  latest_ = time;
  if (gap > kBucket * kBuckets)
    Restart(time, delay);
  else if (gap > kStall)
    slot_start_ = slot_start_ + gap;
  if (time - slot_start_ >= kShortestSlot && slot_.packets >= kFewestPackets) EndSlot(time);
  standing_.OnDelay(time, delay, base_);
  slot_.minimum_delay = std::min(slot_.minimum_delay, delay);
  slot_.size += size;
  ++slot_.packets;
  if (slots_ < minima_.size()) {
    base_ = std::min(base_, delay);
    AddToWindow(time, base_);
  }
  return base_;
}

void BaseDelay::EndSlot(Timestamp time) {
  slot_.duration = time - slot_start_;
  level_.Add(slot_);
  long_slot_.minimum_delay = std::min(long_slot_.minimum_delay, slot_.minimum_delay);
  long_slot_.size += slot_.size;
  long_slot_.duration += slot_.duration;
  long_slot_.packets += slot_.packets;
  minima_[slots_++ % minima_.size()] = slot_.minimum_delay;
  AddToWindow(time, slot_.minimum_delay);
  slot_ = {};
  slot_start_ = time;
  if (slots_ < minima_.size()) return;

  const auto [a, b, c] = minima_;
  const TimeDelta median = std::max(std::min(a, b), std::min(std::max(a, b), c));
  base_ = std::max(std::min(base_, median), Lowest());
  Rise(time, level_);
  if (slots_ % kSlotsInLong != 0) return;
  long_level_.Add(long_slot_);
  long_slot_ = {};
  Rise(time, long_level_);
}

void BaseDelay::Rise(Timestamp time, const DelayLevel& level) {
  const std::optional<TimeDelta> found = level.Find(base_);
  if (!found) return;
  standing_.OnRise(time, base_, *found);
  base_ = *found;
}

void BaseDelay::AddToWindow(Timestamp time, TimeDelta delay) {
  if (time >= bucket_end_) {
    const int64_t steps = (time - bucket_end_).us() / kBucket.us() + 1;
    for (int64_t i = 0; i < std::min<int64_t>(steps, kBuckets); ++i) {
      bucket_ = (bucket_ + 1) % kBuckets;
      buckets_us_[bucket_] = kNone.us();
    }
    bucket_end_ += TimeDelta::Micros(steps * kBucket.us());
  }
  buckets_us_[bucket_] = std::min(buckets_us_[bucket_], delay.us());
}

void BaseDelay::Tilt(Timestamp time, double skew) {
  for (size_t age = 0; age < kBuckets; ++age) {
    int64_t& delay_us = buckets_us_[(bucket_ + kBuckets - age) % kBuckets];
    const TimeDelta middle = time - (bucket_end_ - kBucket * (static_cast<double>(age) + 0.5));
    if (age > 0 && delay_us != kNone.us()) delay_us = (TimeDelta::Micros(delay_us) + middle * skew).us();
  }
  if (slots_ >= minima_.size()) base_ = std::max(base_, Lowest());
}

TimeDelta BaseDelay::Lowest() const {
  return TimeDelta::Micros(*std::min_element(buckets_us_.begin(), buckets_us_.end()));
}

}  // namespace weir
