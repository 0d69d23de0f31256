// Queueing delay: one-way delay, without clock drift, minus the base delay of the path.
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

// Size of a packet and of those lost before it, which entered the queue or were dropped by it. Counting these
// distinguishes a full queue from a lower sending rate.
inline DataSize SentSize(DataSize packet, int32_t lost_change) {
  return DataSize::Bytes(packet.bytes() * std::max<int64_t>(1 + int64_t{lost_change}, 0));
}

// Median of the last kValues of a series, which are kept sorted. Values must be finite.
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

  // The larger of the middle two for an even number; 0 before the first.
  double median() const { return count_ == 0 ? 0 : sorted_[count_ / 2]; }

 private:
  // Number of smaller values among the first `among`. Comparing all is faster than a search with unpredictable
  // branches.
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

// Jitter: the change of a delay from one value to the next that has no direction, unlike that of a queue.
class DelayNoise {
 public:
  // Adds the smallest delay of an interval, in seconds.
  void Add(double delay_s) {
    if (delays_++ >= 2) bends_s_.Add(std::abs(delay_s - 2 * last_delay_s_ + delay_before_s_));
    delay_before_s_ = last_delay_s_;
    last_delay_s_ = delay_s;
  }
  // Median of |a - 2 b + c| over three consecutive delays a, b, c among the last 32, in seconds. Zero for a delay that
  // rises or falls evenly, and before there are three.
  double Seconds() const { return bends_s_.median(); }

 private:
  static constexpr size_t kDelays = 32;

  double last_delay_s_ = 0;
  double delay_before_s_ = 0;
  size_t delays_ = 0;
  SlidingMedian<kDelays - 2> bends_s_;
};

// Arrivals in one slot of time.
struct DelaySlot {
  // The smallest one-way delay, on the scale of the base delay: may be negative.
  TimeDelta minimum_delay = TimeDelta::PlusInfinity();
  // Sent bytes, including the packets lost before those that arrived.
  DataSize size = DataSize::Zero();
  DataSize received = DataSize::Zero();
  // Zero until the slot has ended.
  TimeDelta duration = TimeDelta::Zero();
  // Number of packets with a send time, and of those of them that are 30 ms or more below the base.
  int64_t packets = 0;
  int64_t fast_packets = 0;
  // True if the sender could not decrease its rate further.
  bool at_lowest_rate = true;
};

// Distinguishes a delay of the path from a queue, which drains when the rate falls. A level L above the base delay
// belongs to the path if for some n, 5 <= n <= 30, the last n slots satisfy 1 and 2, or 3:
//
// 1. all smallest delays are well above the base, and flat from the older half to the newer;
// 2. the rate fell so far below that of the first two slots, and for so long, that a queue of the height L would have
//    drained twice. A queue passes packets at the link's rate until it is empty, so a lower rate shows that it is
//    empty;
// 3. for 3 s the sender could not decrease its rate further, as after heavy loss, and all smallest delays were within
//    3 ms.
//
// Lost packets count as sent, but not in the first two slots: a full queue drops what exceeds the link's rate.
// Competing flows that keep a queue full have the same effect as a path with a longer delay.
//
// Jitter of more than a packet's time appears as a delay that is never short for long, because packets in order wait
// for late ones. It is noise and no queue up to a delay of N above the base if for some n, 16 <= n <= 30, the last n
// slots, whose largest delay is N, satisfy all of:
//
// 1. the delay noise is 0.4 N: a queue rises and drains evenly;
// 2. the delay neither rises nor falls from the older half to the newer by more than 0.4 times its noise;
// 3. as in 2 above, a queue of N would have drained three times; or, in the first 30 slots if they take at most 4 s, a
//    queue would have grown to three times N: a link that the older half filled would have delayed the newer half,
//    which carried more, by that much.
class DelayLevel {
 public:
  void Clear() { slots_ = 0; }
  void Add(const DelaySlot& slot);
  // Returns the level, or nothing if there is none.
  std::optional<TimeDelta> Find(TimeDelta base) const;
  // Returns N for the given delay noise in seconds, or zero if there is none.
  TimeDelta FindNoise(TimeDelta base, double noise_s) const;

 private:
  static constexpr size_t kFewestSlots = 5;
  static constexpr size_t kMostSlots = 30;

  static constexpr size_t kFewestNoisySlots = 16;

  const DelaySlot& Back(size_t age) const { return ring_[(slots_ - 1 - age) % kMostSlots]; }
  TimeDelta Median(size_t youngest, size_t count) const;
  // True if the rate of these slots without the two oldest is below that of the two oldest.
  bool RateFell(size_t count, TimeDelta duration, DataSize size) const;
  // Growth of the queue during the newer half of the last `count` slots, had the older half filled the link. Zero if
  // the slots take longer than a start.
  TimeDelta Grown(size_t count) const;
  // Difference between `newer`, the median of the newer half of the last `count` slots, and that of the older half.
  TimeDelta Drift(size_t count, TimeDelta newer) const;

  std::array<DelaySlot, kMostSlots> ring_;
  size_t slots_ = 0;
};

// Detects delay that persists after the sender backs off: a longer path, or a queue that other flows keep full. The two
// look alike, and further backing off helps in neither case. The delay stands from OnRise on, until
//
// 1. it is within 10 ms of the base before the rise; or
// 2. it is 150 ms above the new base: then the sender may have built a queue too, and only another rise can tell; or
// 3. the latest rise is 30 s ago.
class StandingDelay {
 public:
  // Called when the base rises from `base` to a level that DelayLevel found. Levels less than 30 ms above the base
  // before the first such rise do not count.
  void OnRise(Timestamp time, TimeDelta base, TimeDelta level);
  // Called with a packet's delay and the base, on one scale. `time` must not be before that of an earlier call.
  void OnDelay(Timestamp time, TimeDelta delay, TimeDelta base);

  bool stands() const { return stands_; }

 private:
  static constexpr TimeDelta kGone = TimeDelta::Millis(10);
  static constexpr TimeDelta kLongQueue = TimeDelta::Millis(150);
  static constexpr TimeDelta kMemory = TimeDelta::Seconds(30);
  bool stands_ = false;
  // The base before the first rise.
  TimeDelta base_ = TimeDelta::Zero();
  Timestamp latest_rise_ = Timestamp::MinusInfinity();
};

// One-way delay of the path without queues. It changes with the route and with the clocks of both ends. From the
// smallest delay of each slot of at least 100 ms and six packets, the base
//
// 1. falls to the median of the last three, but by 30 ms or more only when most packets of a slot were that fast: a few
//    wrong send times do not move it;
// 2. rises to the smallest of the last 30 s;
// 3. rises to the level that DelayLevel finds.
//
// A rise by rule 2 of 30 ms or more is unproven, since a queue that never drained looks the same. Until the base falls
// back, or DelayLevel finds a level above the base before the rise, the earlier base is used again for 5 s at a time:
// controllers back off, and the delay falls if it is a queue. The pauses between these times begin at 15 s and double
// each time, up to 4 minutes.
//
// Before there are three slots, and again after 30 s without a packet, the base is the smallest delay seen.
//
// Noise that DelayLevel finds is added to the base, up to 3.5 times the present delay noise and 200 ms. A queue is what
// exceeds both.
class BaseDelay {
 public:
  void Restart(Timestamp time, TimeDelta delay);
  // Adds a packet's delay and the bytes sent and received (PlusInfinity: all) since the previous packet, and returns
  // the base plus the noise. `time` must not be before that of an earlier call. A sender at up to `lowest_rate` cannot
  // decrease its rate further.
  TimeDelta Update(Timestamp time, TimeDelta delay, DataSize size, DataSize received = DataSize::PlusInfinity(),
                   DataRate lowest_rate = DataRate::Zero());

  // StandingDelay::stands() at the latest packet.
  bool stands() const { return standing_.stands(); }

  // Called when delays are measured with a skew that is higher by `skew` from now on. Converts earlier delays, so that
  // the delay is continuous now.
  void Tilt(Timestamp time, double skew);

 private:
  static constexpr TimeDelta kBucket = TimeDelta::Seconds(3);
  // A path that delivers nothing for this time may have stalled, so the time does not count as a low rate.
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
  // While the base is unproven: whether the proven base is in use, and until when, or when it is next.
  bool measures_ = false;
  Timestamp measures_until_ = Timestamp::MinusInfinity();
  TimeDelta pause_ = kFirstPause;
  TimeDelta fast_delay_ = TimeDelta::MinusInfinity();
  DelaySlot slot_;
  Timestamp slot_start_ = Timestamp::MinusInfinity();
  Timestamp latest_ = Timestamp::MinusInfinity();
  // Smallest delays of the last three slots.
  std::array<TimeDelta, 3> minima_{TimeDelta::Zero(), TimeDelta::Zero(), TimeDelta::Zero()};
  size_t slots_ = 0;

  // Smallest delay of each 3 s, in us.
  std::array<int64_t, kBuckets> buckets_us_{};
  size_t bucket_ = 0;
  Timestamp bucket_end_ = Timestamp::MinusInfinity();

  DelayLevel level_;
  DelayNoise delay_noise_;
  TimeDelta noise_ = TimeDelta::Zero();
  // A slot eight times as long, for a rate that falls slowly.
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
    // True if the send times have another clock, so that earlier measurements were dropped.
    bool restarted = false;
    // StandingDelay::stands().
    bool stands = false;
  };

  // Packets may be slightly out of order. `measured` is SendClock's result for the packet. `size` is the number of
  // bytes since the previous packet, this one included. See BaseDelay for `lowest_rate`.
  Result Update(Timestamp arrival, const SendClock::Result& measured, DataSize size,
                DataSize received = DataSize::PlusInfinity(), DataRate lowest_rate = DataRate::Zero());

 private:
  Result Restart(Timestamp arrival, TimeDelta one_way_delay);

  ClockSkew skew_;
  // Drift of the clocks so far. A new skew does not change it.
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
