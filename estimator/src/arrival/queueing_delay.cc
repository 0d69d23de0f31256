#include "arrival/queueing_delay.h"

#include <algorithm>
#include <limits>

namespace weir {
namespace {

// Smallest level above the base; and largest difference between the older half and the newer, the larger of kFlat and
// kFlatShare of the level.
constexpr TimeDelta kLowestLevel = TimeDelta::Millis(4);
constexpr TimeDelta kFlat = TimeDelta::Millis(3);
constexpr double kFlatShare = 0.15;
// A rate has fallen if it is lower by more than this share and two packets of the first slots.
constexpr double kAllowance = 0.1;
constexpr double kPacketsAllowed = 2;
// A queue would have drained this many times.
constexpr double kTimesDrained = 2;
// Time for which no lower rate was possible.
constexpr TimeDelta kAtLowestRate = TimeDelta::Seconds(3);

// Returns the time that the rate of the first two slots would have needed for the bytes that the others did not carry.
TimeDelta Drained(const DelaySlot& first, const DelaySlot& second, TimeDelta duration, DataSize size) {
  const DataRate rate = (first.received + second.received) / (first.duration + second.duration);
  if (rate <= DataRate::Zero()) return TimeDelta::Zero();
  const double allowance = kAllowance + kPacketsAllowed / static_cast<double>(first.packets + second.packets);
  return duration * (1.0 - allowance) - size / rate;
}

// A queue as long as the noise would have drained or grown this many times.
constexpr double kTimesChanged = 3;
// Longest time for which the rate of a call grows after its start.
constexpr TimeDelta kLongestStart = TimeDelta::Seconds(4);
// kAllowance for the two halves.
constexpr double kAllowanceOfHalf = 0.2;
// At a higher share of the first rate nothing drains, because of kAllowance. Saves the divisions of Drained().
constexpr double kFell = 0.95;
// Delay noise / largest delay, and drift / delay noise.
constexpr double kNoisyShare = 0.4;
constexpr double kNoiseDrift = 0.4;
constexpr double kMostNoises = 3.5;
constexpr TimeDelta kMostNoise = TimeDelta::Millis(200);

constexpr TimeDelta kSmallestRise = TimeDelta::Millis(30);

constexpr TimeDelta kMeasure = TimeDelta::Seconds(5);
constexpr TimeDelta kLongestPause = TimeDelta::Seconds(240);

constexpr size_t kSlotsInLong = 8;
constexpr TimeDelta kNone = TimeDelta::PlusInfinity();

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
  TimeDelta highest = TimeDelta::MinusInfinity();
  bool at_lowest_rate = true;
  TimeDelta since = TimeDelta::Zero();
  // Sums of all slots but the two oldest.
  TimeDelta duration = TimeDelta::Zero();
  DataSize size = DataSize::Zero();
  for (size_t count = 1; count <= known; ++count) {
    lowest = std::min(lowest, Back(count - 1).minimum_delay);
    if (lowest < base + kLowestLevel) return std::nullopt;
    highest = std::max(highest, Back(count - 1).minimum_delay);
    at_lowest_rate = at_lowest_rate && Back(count - 1).at_lowest_rate;
    since = since + Back(count - 1).duration;
    if (count < 3) continue;
    duration = duration + Back(count - 3).duration;
    size += Back(count - 3).size;
    if (count < kFewestSlots) continue;
    // The queue of competing flows varies by more.
    if (at_lowest_rate && since >= kAtLowestRate && highest <= lowest + kFlat) return lowest;
    const TimeDelta drained = Drained(Back(count - 1), Back(count - 2), duration, size);
    // Checked first because medians are expensive, and at least `lowest`.
    if (drained < (lowest - base) * kTimesDrained) continue;
    const TimeDelta newer = Median(0, count / 2);
    const TimeDelta level = newer - base;
    if (Drift(count, newer) <= std::max(kFlat, level * kFlatShare) && drained >= level * kTimesDrained) return newer;
  }
  return std::nullopt;
}

TimeDelta DelayLevel::Drift(size_t count, TimeDelta newer) const {
  return (newer - Median(count / 2, count - count / 2)).Abs();
}

bool DelayLevel::RateFell(size_t count, TimeDelta duration, DataSize size) const {
  const DelaySlot &first = Back(count - 1), &second = Back(count - 2);
  const auto first_us = static_cast<double>((first.duration + second.duration).us());
  const auto first_bytes = static_cast<double>((first.received + second.received).bytes());
  return static_cast<double>(size.bytes()) * first_us <= kFell * first_bytes * static_cast<double>(duration.us());
}

TimeDelta DelayLevel::Grown(size_t count) const {
  TimeDelta older_duration = TimeDelta::Zero(), newer_duration = TimeDelta::Zero();
  DataSize older = DataSize::Zero(), newer = DataSize::Zero();
  for (size_t age = 0; age < count; ++age) {
    const bool is_newer = age < count / 2;
    (is_newer ? newer : older) += Back(age).received;
    TimeDelta& duration = is_newer ? newer_duration : older_duration;
    duration = duration + Back(age).duration;
  }
  const DataRate rate = older / older_duration;
  const bool starts = older_duration + newer_duration <= kLongestStart;
  return starts && rate > DataRate::Zero() ? newer / rate - newer_duration * (1 + kAllowanceOfHalf) : TimeDelta::Zero();
}

TimeDelta DelayLevel::FindNoise(TimeDelta base, double noise_s) const {
  const size_t known = std::min(slots_, kMostSlots);
  if (known < kFewestNoisySlots || noise_s == 0) return TimeDelta::Zero();
  const TimeDelta most_drift = std::max(kFlat, TimeDelta::SecondsF(noise_s * kNoiseDrift));
  // Largest delay by the number of slots if a queue would have drained or grown in them, else zero.
  std::array<int64_t, kMostSlots + 1> highest_us{};
  TimeDelta highest = TimeDelta::Zero(), duration = TimeDelta::Zero();
  DataSize size = DataSize::Zero();
  size_t most = 0;
  for (size_t count = 1; count <= known; ++count) {
    highest = std::max(highest, Back(count - 1).minimum_delay - base);
    if (noise_s < highest.seconds() * kNoisyShare) break;
    if (count < 3) continue;
    duration = duration + Back(count - 3).duration;
    size += Back(count - 3).size;
    if (count < kFewestNoisySlots || highest.IsZero()) continue;
    const bool fell = RateFell(count, duration, size);
    if (!fell && slots_ > kMostSlots) continue;
    const TimeDelta changed = fell ? Drained(Back(count - 1), Back(count - 2), duration, size) : Grown(count);
    if (changed < highest * kTimesChanged) continue;
    highest_us[count] = highest.us();
    most = count;
  }
  // Begins with the most slots, whose delay is the largest, because medians are expensive.
  for (size_t count = most; count >= kFewestNoisySlots; --count) {
    if (highest_us[count] > 0 && Drift(count, Median(0, count / 2)) <= most_drift)
      return TimeDelta::Micros(highest_us[count]);
  }
  return TimeDelta::Zero();
}

void StandingDelay::OnRise(Timestamp time, TimeDelta base, TimeDelta level) {
  if (!stands_) base_ = base;
  latest_rise_ = time;
  stands_ = stands_ || level - base_ >= kSmallestRise;
}

void BaseDelay::Restart(Timestamp time, TimeDelta delay) {
  base_ = proven_base_ = delay;
  fast_delay_ = TimeDelta::MinusInfinity();
  SetUnproven(time, false);
  slot_ = {};
  slot_start_ = latest_ = time;
  slots_ = 0;
  level_.Clear();
  delay_noise_ = {};
  noise_ = TimeDelta::Zero();
  long_slot_ = {};
  long_level_.Clear();
  standing_ = {};
  buckets_us_.fill(kNone.us());
  bucket_ = 0;
  bucket_end_ = time + kBucket;
}

void BaseDelay::EndSlot(Timestamp time, DataRate lowest_rate) {
  slot_.duration = time - slot_start_;
  slot_.at_lowest_rate = slot_.size <= lowest_rate * slot_.duration;
  if (slot_.fast_packets * 2 <= slot_.packets && slot_.fast_packets > 0) slot_.minimum_delay = base_;
  level_.Add(slot_);
  UpdateNoise();
  long_slot_.minimum_delay = std::min(long_slot_.minimum_delay, slot_.minimum_delay);
  long_slot_.size += slot_.size;
  long_slot_.received += slot_.received;
  long_slot_.duration += slot_.duration;
  long_slot_.packets += slot_.packets;
  long_slot_.at_lowest_rate = long_slot_.at_lowest_rate && slot_.at_lowest_rate;
  minima_[slots_++ % minima_.size()] = slot_.minimum_delay;
  AddToWindow(time, slot_.minimum_delay);
  slot_ = {};
  slot_start_ = time;
  if (slots_ < minima_.size()) {
    proven_base_ = base_;
    return;
  }

  const auto [a, b, c] = minima_;
  const TimeDelta median = std::max(std::min(a, b), std::min(std::max(a, b), c));
  base_ = std::max(std::min(base_, median), Lowest());
  proven_base_ = std::min(proven_base_, base_);
  SetUnproven(time, base_ - proven_base_ >= kSmallestRise);
  Rise(time, level_);
  if (slots_ % kSlotsInLong == 0) {
    long_level_.Add(long_slot_);
    long_slot_ = {};
    Rise(time, long_level_);
  }
  fast_delay_ = base_ - kSmallestRise;
}

void BaseDelay::UpdateNoise() {
  delay_noise_.Add(slot_.minimum_delay.seconds());
  const double noise_s = delay_noise_.Seconds();
  noise_ = std::max(noise_, level_.FindNoise(base_, noise_s));
  noise_ = std::min({noise_, TimeDelta::SecondsF(noise_s * kMostNoises), kMostNoise});
}

void BaseDelay::Rise(Timestamp time, const DelayLevel& level) {
  const TimeDelta before = unproven_ ? proven_base_ : base_;
  const std::optional<TimeDelta> found = level.Find(before);
  if (!found) return;
  standing_.OnRise(time, before, *found);
  base_ = proven_base_ = *found;
  SetUnproven(time, false);
}

void BaseDelay::SetUnproven(Timestamp time, bool unproven) {
  unproven_ = unproven;
  if (!unproven) {
    measures_ = false;
    measures_until_ = Timestamp::MinusInfinity();
    pause_ = kFirstPause;
  } else if (time >= measures_until_) {
    measures_ = !measures_;
    measures_until_ = time + (measures_ ? kMeasure : pause_);
    if (!measures_) pause_ = std::min(pause_ * 2, kLongestPause);
  }
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
  if (slots_ < minima_.size()) return;
  const TimeDelta rise = std::max(Lowest() - base_, TimeDelta::Zero());
  base_ += rise;
  proven_base_ += rise;
}

TimeDelta BaseDelay::Lowest() const {
  return TimeDelta::Micros(*std::min_element(buckets_us_.begin(), buckets_us_.end()));
}

QueueingDelay::Result QueueingDelay::Restart(Timestamp arrival, TimeDelta one_way_delay) {
  const bool first = !latest_arrival_.IsFinite();
  latest_arrival_ = arrival;
  skew_ = {};
  drift_us_ = 0;
  base_.Restart(arrival, one_way_delay);
  return {.restarted = !first};
}

}  // namespace weir
