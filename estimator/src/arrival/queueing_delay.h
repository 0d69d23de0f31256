// Queueing delay: one-way delay without clock drift, above the delay of the path itself.
#ifndef WEIR_ARRIVAL_QUEUEING_DELAY_H_
#define WEIR_ARRIVAL_QUEUEING_DELAY_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "arrival/send_clock.h"
#include "weir/units.h"

namespace weir {

// Includes the packets lost before this one, which entered the queue or were dropped by it. This distinguishes a full
// queue from a lower sending rate.
inline DataSize SentSize(DataSize packet, int32_t lost_change) {
  return DataSize::Bytes(packet.bytes() * std::max<int64_t>(1 + int64_t{lost_change}, 0));
}

// The median of the last kValues of a series, kept in order so that none needs sorting again. Values must be finite.
template <size_t kValues>
class SlidingMedian {
 public:
  void Add(double value) {
    double& oldest = ring_[added_++ % kValues];
    if (added_ <= kValues) {
      count_ = added_;
    } else {
      const size_t place = Below(oldest, count_);
      std::copy(sorted_.begin() + place + 1, sorted_.begin() + count_, sorted_.begin() + place);
    }
    oldest = value;
    const size_t place = Below(value, count_ - 1);
    std::copy_backward(sorted_.begin() + place, sorted_.begin() + count_ - 1, sorted_.begin() + count_);
    sorted_[place] = value;
  }

  // The larger of the two in the middle for an even number; 0 before the first.
  double median() const { return count_ == 0 ? 0 : sorted_[count_ / 2]; }

 private:
  // Number of smaller values among the first `among`. Counting all is faster than a search with unpredictable branches.
  size_t Below(double value, size_t among) const {
    size_t below = 0;
    for (size_t i = 0; i < among; ++i) below += sorted_[i] < value;
    return below;
  }

  std::array<double, kValues> ring_{};
  std::array<double, kValues> sorted_{};
  size_t added_ = 0;
  size_t count_ = 0;
};

// Jitter: how much a delay changes from one value to the next without direction, unlike a queue that grows or drains.
class DelayNoise {
 public:
  // Adds the smallest delay of an interval, in seconds.
  void Add(double delay_s) {
    if (delays_++ >= 2) bends_s_.Add(std::abs(delay_s - 2 * last_delay_s_ + delay_before_s_));
    delay_before_s_ = last_delay_s_;
    last_delay_s_ = delay_s;
  }
  // The median of |a - 2 b + c| over neighbours among the last 32 delays, in seconds; a delay that rises or falls
  // evenly has none. 0 before there are three.
  double Seconds() const { return bends_s_.median(); }

 private:
  static constexpr size_t kDelays = 32;

  double last_delay_s_ = 0;
  double delay_before_s_ = 0;
  size_t delays_ = 0;
  SlidingMedian<kDelays - 2> bends_s_;
};

// Arrivals in a span of time.
struct DelaySlot {
  // The smallest one-way delay, on the scale of the base delay: may be negative.
  TimeDelta minimum_delay = TimeDelta::PlusInfinity();
  // Sent bytes: with the packets lost before those that arrived.
  DataSize size = DataSize::Zero();
  DataSize received = DataSize::Zero();
  // Above 0 once the slot has ended.
  TimeDelta duration = TimeDelta::Zero();
  // Packets that arrived with a send time, and those of them that are 30 ms or more below the base.
  int64_t packets = 0;
  int64_t fast_packets = 0;
  // The sender could yield no more.
  bool at_lowest_rate = true;
};

// Distinguishes a delay of the path from a queue, which drains when the rate falls. A level L above the base delay is
// the path's when for some n, 5 <= n <= 30, of the last n slots 1 and 2 hold, or 3:
//
// 1. all smallest delays are well above the base, and flat from the older half to the newer;
// 2. the rate fell so far below that of the first two slots, and for so long, that a queue of the height L would have
//    drained twice. Packets pass a queue at the link's rate until it is empty, so a lower rate shows that none waits.
// 3. for 3 s the sender could yield no more, as after heavy loss, and all smallest delays were within 3 ms.
//
// Lost packets count as sent, but not in the first two slots: a full queue drops what exceeds the link's rate.
// Competing flows that keep a queue full have the same effect as a path with a longer delay.
//
// Jitter of more than a packet's time shows as a delay that is never short for long: packets in order wait for those
// that are late. Up to a delay of N above the base it is noise, not a queue, when for some n, 16 <= n <= 30, of the
// last n slots, N being their largest:
//
// 1. the delay noise is 0.4 N: a queue rises and drains evenly;
// 2. the delay neither rises nor falls from the older half to the newer by more than 0.4 times its noise;
// 3. as in 2 above, a queue of N would have drained three times; or, in the first 30 slots if they take at most
//    4 s, grown three times: a link that the older half filled would have delayed the newer half, which brought more,
//    by so much.
class DelayLevel {
 public:
  void Clear() { slots_ = 0; }
  void Add(const DelaySlot& slot);
  // The level; nothing when there is none.
  std::optional<TimeDelta> Find(TimeDelta base) const;
  // N, with the delay noise in seconds; zero when there is none.
  TimeDelta FindNoise(TimeDelta base, double noise_s) const;

 private:
  static constexpr size_t kFewestSlots = 5;
  static constexpr size_t kMostSlots = 30;

  static constexpr size_t kFewestNoisySlots = 16;

  const DelaySlot& Back(size_t age) const { return ring_[(slots_ - 1 - age) % kMostSlots]; }
  TimeDelta Median(size_t youngest, size_t count) const;
  // The rate of these slots, less the two oldest, is below that of the two oldest.
  bool RateFell(size_t count, TimeDelta duration, DataSize size) const;
  // By how much the queue of a link that the older half of the last `count` slots filled would have grown in the newer;
  // zero when they take longer than a start.
  TimeDelta Grown(size_t count) const;
  // By how much the median of the newer half of the last `count` slots, which is given, differs from that of the older.
  TimeDelta Drift(size_t count, TimeDelta newer) const;

  std::array<DelaySlot, kMostSlots> ring_;
  size_t slots_ = 0;
};

// Detects delay that persists after the sender backs off: a longer path, or a queue that other flows keep full. The two
// look alike, and further backing off helps against neither. The delay stands from OnRise on, until
//
// 1. it is within 10 ms of the base before the rise; or
// 2. it is 150 ms above the new base: then the sender may have built a queue too, and only another rise can tell; or
// 3. the latest rise is 30 s ago.
class StandingDelay {
 public:
  // The base rises from `base` to a level that DelayLevel found. Levels less than 30 ms above the base before the first
  // such rise do not count.
  void OnRise(Timestamp time, TimeDelta base, TimeDelta level);
  // A packet's delay and the base, on one scale. `time` must not be before that of an earlier call.
  void OnDelay(Timestamp time, TimeDelta delay, TimeDelta base);

  bool stands() const { return stands_; }

 private:
  static constexpr TimeDelta kGone = TimeDelta::Millis(10);
  static constexpr TimeDelta kLongQueue = TimeDelta::Millis(150);
  static constexpr TimeDelta kMemory = TimeDelta::Seconds(30);
  bool stands_ = false;
  // Before the first rise.
  TimeDelta base_ = TimeDelta::Zero();
  Timestamp latest_rise_ = Timestamp::MinusInfinity();
};

// The one-way delay of the path itself, which changes with its route and with the clocks of its ends. From the smallest
// delay of each slot of at least 100 ms and six packets, the base
//
// 1. falls to the median of the last three, but by 30 ms or more only when most packets of a slot were that fast: a few
//    wrong send times do not move it;
// 2. rises to the smallest of the last 30 s;
// 3. rises to the level that DelayLevel finds.
//
// A rise by rule 2 of 30 ms or more is unproven, since a queue that never drained looks the same. Until the base falls
// back or DelayLevel finds a level above the base before the rise, that base counts again for 5 s at a time:
// controllers back off, and the delay falls if it is a queue. The pauses between are 15 s, doubled each time up to 4
// minutes.
//
// Before there are three slots, and again after 30 s without a packet, it is the smallest delay seen.
//
// What DelayLevel finds to be noise is added to the base, up to 3.5 times the present delay noise and 200 ms: a queue
// shows as what exceeds both.
class BaseDelay {
 public:
  void Restart(Timestamp time, TimeDelta delay);
  // Adds a packet's delay and the bytes sent and received (PlusInfinity: all) since the previous packet, and returns
  // the base with the noise. `time` must not be before that of an earlier call. A sender up to `lowest_rate` can yield
  // no more.
  TimeDelta Update(Timestamp time, TimeDelta delay, DataSize size, DataSize received = DataSize::PlusInfinity(),
                   DataRate lowest_rate = DataRate::Zero());

  // StandingDelay::stands() at the latest packet.
  bool stands() const { return standing_.stands(); }

  // Delays are measured from now on with another skew, higher by `skew`. Earlier delays are converted, so that they
  // continue in the same delay now.
  void Tilt(Timestamp time, double skew);

 private:
  static constexpr TimeDelta kBucket = TimeDelta::Seconds(3);
  // A path that delivers nothing for so long may have stalled: the time does not count as a low rate.
  static constexpr TimeDelta kStall = TimeDelta::Millis(500);
  static constexpr TimeDelta kShortestSlot = TimeDelta::Millis(100);
  static constexpr TimeDelta kFirstPause = TimeDelta::Seconds(15);
  static constexpr size_t kBuckets = 10;
  static constexpr int64_t kFewestPackets = 6;

  void EndSlot(Timestamp time, DataRate lowest_rate);
  void SetUnproven(Timestamp time, bool unproven);
  void UpdateNoise();
  // Raises the base to the level, if there is one.
  void Rise(Timestamp time, const DelayLevel& level);
  void AddToWindow(Timestamp time, TimeDelta delay);
  TimeDelta Lowest() const;

  TimeDelta base_ = TimeDelta::Zero();
  // The base without the rises by rule 2 since it fell or a level was found.
  TimeDelta proven_base_ = TimeDelta::Zero();
  bool unproven_ = false;
  // The base is unproven, and the proven base counts, until then; else the next time begins then.
  bool measures_ = false;
  Timestamp measures_until_ = Timestamp::MinusInfinity();
  TimeDelta pause_ = kFirstPause;
  TimeDelta fast_delay_ = TimeDelta::MinusInfinity();
  DelaySlot slot_;
  Timestamp slot_start_ = Timestamp::MinusInfinity();
  Timestamp latest_ = Timestamp::MinusInfinity();
  // The smallest delays of the last three slots.
  std::array<TimeDelta, 3> minima_{TimeDelta::Zero(), TimeDelta::Zero(), TimeDelta::Zero()};
  size_t slots_ = 0;

  // The smallest delay of each 3 s, in us.
  std::array<int64_t, kBuckets> buckets_us_{};
  size_t bucket_ = 0;
  Timestamp bucket_end_ = Timestamp::MinusInfinity();

  DelayLevel level_;
  DelayNoise delay_noise_;
  TimeDelta noise_ = TimeDelta::Zero();
  // Slots eight times as long, for a rate that falls slowly.
  DelaySlot long_slot_;
  DelayLevel long_level_;
  StandingDelay standing_;
};

// Queueing delay of packets whose send times have one clock.
class QueueingDelay {
 public:
  struct Result {
    // Never negative.
    TimeDelta queueing_delay = TimeDelta::Zero();
    // Change of one-way delay since the previous packet.
    TimeDelta change = TimeDelta::Zero();
    // The send times have another clock; earlier measurements were dropped.
    bool restarted = false;
    // `StandingDelay`.
    bool stands = false;
  };

  // Packets may be a little out of order. `measured` is SendClock's result for the packet, the first one included;
  // `size` is the bytes since the previous packet, this one included. See BaseDelay for `lowest_rate`.
  Result Update(Timestamp arrival, const SendClock::Result& measured, DataSize size,
                DataSize received = DataSize::PlusInfinity(), DataRate lowest_rate = DataRate::Zero());

 private:
  Result Restart(Timestamp arrival, TimeDelta one_way_delay);

  ClockSkew skew_;
  // Drift of the clocks so far; a new skew does not change the past.
  double drift_us_ = 0;
  BaseDelay base_;
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();
};

// --- Inline: called for each packet.

[[gnu::always_inline]] inline void StandingDelay::OnDelay(Timestamp time, TimeDelta delay, TimeDelta base) {
  if (!stands_) [[likely]]
    return;
  stands_ = delay >= base_ + kGone && delay <= base + kLongQueue && time - latest_rise_ <= kMemory;
}

[[gnu::always_inline]] inline TimeDelta BaseDelay::Update(Timestamp time, TimeDelta delay, DataSize size,
                                                          DataSize received, DataRate lowest_rate) {
  constexpr TimeDelta kForget = kBucket * kBuckets;
  const TimeDelta gap = internal::Difference(time, latest_);
  latest_ = time;
  if (gap > kForget)
    Restart(time, delay);
  else if (gap > kStall)
    slot_start_ = slot_start_ + gap;
  if (internal::Difference(time, slot_start_) >= kShortestSlot && slot_.packets >= kFewestPackets)
    EndSlot(time, lowest_rate);
  standing_.OnDelay(time, delay, base_);
  slot_.minimum_delay = std::min(slot_.minimum_delay, delay);
  slot_.size += size;
  slot_.received += std::min(received, size);
  ++slot_.packets;
  slot_.fast_packets += delay <= fast_delay_ ? 1 : 0;
  if (slots_ < minima_.size()) {
    base_ = std::min(base_, delay);
    AddToWindow(time, base_);
  }
  return (measures_ ? proven_base_ : base_) + noise_;
}

[[gnu::always_inline]] inline QueueingDelay::Result QueueingDelay::Update(Timestamp arrival,
                                                                          const SendClock::Result& measured,
                                                                          DataSize size, DataSize received,
                                                                          DataRate lowest_rate) {
  if (measured.restarted) return Restart(arrival, measured.one_way_delay);
  const Timestamp before = std::exchange(latest_arrival_, std::max(arrival, latest_arrival_));
  const double skew_before = skew_.skew();
  if (skew_before != 0)
    drift_us_ += skew_before * static_cast<double>(internal::Difference(latest_arrival_, before).us());
  if (skew_.Update(latest_arrival_, measured.one_way_delay, size))
    base_.Tilt(latest_arrival_, skew_.skew() - skew_before);
  TimeDelta delay = measured.one_way_delay;
  if (drift_us_ != 0) delay -= TimeDelta::SecondsF(drift_us_ * 1e-6);
  const TimeDelta base = base_.Update(latest_arrival_, delay, size, received, lowest_rate);
  return {std::max(internal::Difference(delay, base), TimeDelta::Zero()), measured.change, false, base_.stands()};
}

}  // namespace weir

#endif  // WEIR_ARRIVAL_QUEUEING_DELAY_H_
