// Delay of packets against a clock of the sender that counts ticks and wraps: abs-send-time, or the RTP timestamps of a
// stream. SendClock computes one-way delay, SendTimeFilter rejects implausible send times, ClockSkew measures drift.
#ifndef WEIR_ARRIVAL_SEND_CLOCK_H_
#define WEIR_ARRIVAL_SEND_CLOCK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/units.h"

namespace weir {
namespace internal {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;

// Rounds down, so that errors do not accumulate; correct for negative numbers of ticks too.
constexpr int64_t TicksToUs(int64_t ticks, int64_t ticks_per_second) {
  int64_t seconds = ticks / ticks_per_second;
  int64_t rest = ticks % ticks_per_second;
  if (rest < 0) {
    rest += ticks_per_second;
    --seconds;
  }
  return seconds * kMicrosPerSecond + rest * kMicrosPerSecond / ticks_per_second;
}

// TicksToUs for abs-send-time, without a division.
inline constexpr int kAbsSendTimeFractionBits = 18;
constexpr int64_t AbsSendTimeToUs(int64_t ticks) {
  constexpr int64_t kMask = (int64_t{1} << kAbsSendTimeFractionBits) - 1;
  return (ticks >> kAbsSendTimeFractionBits) * kMicrosPerSecond +
         (((ticks & kMask) * kMicrosPerSecond) >> kAbsSendTimeFractionBits);
}

constexpr TimeDelta ToTime(int64_t ticks, int64_t ticks_per_second) {
  return TimeDelta::Micros(ticks_per_second == (int64_t{1} << kAbsSendTimeFractionBits)
                               ? AbsSendTimeToUs(ticks)
                               : TicksToUs(ticks, ticks_per_second));
}

// Sums for each packet, without the tests for infinity that operator+ and operator- make. They are exact for times of
// packets, which are within 2^61 us of 0 (IsTime), and for delays: SendTimeFilter accepts none longer than the time
// since its first packet. Other operands wrap.
constexpr int64_t WrappingSubtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr TimeDelta Difference(Timestamp a, Timestamp b) { return TimeDelta::Micros(WrappingSubtract(a.us(), b.us())); }
constexpr TimeDelta Difference(TimeDelta a, TimeDelta b) { return TimeDelta::Micros(WrappingSubtract(a.us(), b.us())); }
constexpr Timestamp Earlier(Timestamp time, TimeDelta by) {
  return Timestamp::Micros(WrappingSubtract(time.us(), by.us()));
}

// The difference of two `bits`-bit counters, within half their range of 0.
constexpr int64_t WrappingDifference(uint32_t a, uint32_t b, int bits) {
  const int shift = 32 - bits;
  return int64_t{static_cast<int32_t>((a - b) << shift)} >> shift;
}

}  // namespace internal

// When a packet was sent, by the sender's clock.
struct SendTime {
  // Below 2^bits.
  uint32_t ticks = 0;
  // Width of the counter, 1 to 32.
  int bits = 32;
  // Within [1000, 1'000'000].
  int64_t ticks_per_second = 0;

  // The value of the counter `time` later; it wraps.
  SendTime After(TimeDelta time) const;
};

// Computes one-way delay. The two clocks have no common origin, so delays count from that of the first packet. The
// arrival clock distinguishes a wrap from a pause: the send time is the possible one nearest to the arrival time.
// Implausible send times are SendTimeFilter's concern.
class SendClock {
 public:
  struct Result {
    // Delay above that of the first packet since the restart; negative for a faster packet.
    TimeDelta one_way_delay;
    // Delay above that of the previous packet.
    TimeDelta change;
    // The first packet, or the first at another clock rate: its delay is zero and not comparable with earlier ones.
    bool restarted;
  };

  // True when Update would restart.
  bool restarts_at(const SendTime& sent) const { return !started_ || sent.ticks_per_second != ticks_per_second_; }
  // `arrival` must be a time (IsTime).
  Result Update(Timestamp arrival, const SendTime& sent);

  // A send time that does not restart the clock.
  struct Reading {
    // Ticks since the restart.
    int64_t unwrapped_ticks;
    TimeDelta one_way_delay;
  };
  // Does not change the clock.
  Reading Read(Timestamp arrival, const SendTime& sent) const;
  // Update for a send time that was just read.
  Result Update(Timestamp arrival, const SendTime& sent, const Reading& reading);

  // These two describe the latest packet.
  Timestamp last_arrival() const { return last_arrival_; }
  TimeDelta last_delay() const { return last_delay_; }

 private:
  // Ticks since the previous packet.
  int64_t TicksSinceLast(Timestamp arrival, const SendTime& sent) const;

  bool started_ = false;
  int64_t ticks_per_second_ = 0;
  // Send time of the latest packet.
  uint32_t last_ticks_ = 0;
  // Ticks since the restart.
  int64_t unwrapped_ticks_ = 0;
  Timestamp start_ = Timestamp::MinusInfinity();
  Timestamp last_arrival_ = Timestamp::MinusInfinity();
  TimeDelta last_delay_ = TimeDelta::Zero();
};

// Rejects send times that imply a change of delay beyond what a path can cause, and compensates leaps of the sender's
// clock. A send time is plausible when
//
// 1. the packet was sent at most kMaxLateness before the latest one (reordering);
// 2. the delay rose by at most kMaxStall (a path may stall and deliver everything afterwards);
// 3. the delay is at most kMaxAdvance below the smallest of the last half-minute or more. With a larger step, every
//    later packet would be late in comparison with this one.
//
// When kConfirmations implausible send times in a row agree with one another, the clock has leapt: later send times are
// shifted by the leap, so that the delay continues and everything known of the path still holds. Steps within the
// bounds are indistinguishable from a longer or shorter route.
class SendTimeFilter {
 public:
  static constexpr TimeDelta kMaxLateness = TimeDelta::Millis(500);
  static constexpr TimeDelta kMaxStall = TimeDelta::Seconds(10);
  static constexpr TimeDelta kMaxAdvance = TimeDelta::Millis(500);
  static constexpr int kConfirmations = 5;

  struct Result {
    // False: the send time is implausible.
    bool believed = false;
    // This packet has confirmed a leap.
    bool leapt = false;
    // Without leaps; valid when believed.
    SendClock::Result delay{TimeDelta::Zero(), TimeDelta::Zero(), false};
  };

  // See SendClock for the requirements on times.
  Result Update(Timestamp arrival, const SendTime& sent);

 private:
  static constexpr TimeDelta kLowestWindow = TimeDelta::Seconds(30);

  Result Restart(Timestamp arrival, const SendTime& sent);
  // `moved` is `sent` without the leaps so far, `delay` its delay.
  Result OnImplausible(Timestamp arrival, const SendTime& sent, const SendTime& moved, TimeDelta delay);
  bool CanBe(Timestamp arrival, TimeDelta delay) const;
  void Believe(Timestamp arrival, TimeDelta delay);
  // Counts an implausible send time; true when it confirms a leap.
  bool Confirms(Timestamp arrival, const SendTime& sent, TimeDelta delay);
  TimeDelta ContinuedDelay() const;

  // The plausible send times.
  SendClock clock_;
  TimeDelta leaps_ = TimeDelta::Zero();
  // Send time of the latest packet, on the receiver's clock.
  Timestamp latest_sent_ = Timestamp::MinusInfinity();
  // The smallest delays of this half-minute and the one before.
  Timestamp lowest_until_ = Timestamp::MinusInfinity();
  TimeDelta lowest_now_ = TimeDelta::Zero();
  TimeDelta lowest_before_ = TimeDelta::Zero();
  // The latest delays, the oldest is overwritten.
  std::array<TimeDelta, kConfirmations> recent_delays_ = {TimeDelta::Zero(), TimeDelta::Zero(), TimeDelta::Zero(),
                                                          TimeDelta::Zero(), TimeDelta::Zero()};
  size_t recent_ = 0;

  // Implausible send times in a row that agree. Delays count from the first of them.
  int candidates_ = 0;
  SendClock candidate_clock_;
  Timestamp first_candidate_arrival_ = Timestamp::MinusInfinity();
  TimeDelta first_candidate_delay_ = TimeDelta::Zero();
  Timestamp latest_candidate_sent_ = Timestamp::MinusInfinity();
  TimeDelta last_candidate_delay_ = TimeDelta::Zero();
  TimeDelta lowest_candidate_delay_ = TimeDelta::Zero();
};

// Measures the drift between the sender's clock and the receiver's. One-way delay in comparison with a clock that is
// slow by 1000 ppm grows by 1 ms a second, which no back-off drains. After Moon, Skelly and Towsley (1999) the skew is
// the slope of the line below all delays and nearest to them; here, below the smallest delay of each of the last 30 s.
//
// Queues and route changes also make delays grow, but a clock drifts evenly: the delays return to the line in every
// part of the time. So a slope is accepted when its effect over that time is many times the largest distance that a
// part keeps from the line, after 20 s, or after 5 s in which the rate fell: a queue would have drained. Otherwise the
// previous skew holds.
class ClockSkew {
 public:
  // Two clocks differ by at most 3000 ppm: oscillators are within 100, NTP slews a clock by up to 500, and timestamps
  // may follow the clock of a sound device. The rest is for the error of the estimate.
  static constexpr double kMax = 3.5e-3;

  ClockSkew() = default;
  // For clocks that may differ by `max_skew`, above 0, instead.
  explicit ClockSkew(double max_skew) : max_skew_(max_skew) {}

  // Adds a packet's one-way delay and the bytes sent since the previous packet; `time` must not be before that of an
  // earlier call. True when the skew changed.
  bool Update(Timestamp time, TimeDelta delay, DataSize size);
  // The slope of one-way delay over time, within [-kMax, kMax] or what was given instead; positive when the sender's
  // clock is slow.
  double skew() const { return skew_; }

 private:
  struct Point {
    double time_s = 0;
    double delay_s = 0;
    DataRate rate = DataRate::Zero();
  };
  static constexpr size_t kPoints = 30;
  // Parts of the time that the points span.
  static constexpr size_t kParts = 6;

  bool EndSecond(Timestamp time);
  bool Estimate();
  // Oldest first.
  const Point& At(size_t i) const { return ring_[(end_ - count_ + i) % kPoints]; }
  void DropOldPoints(double now_s);
  // In one of the seconds, below that of an earlier one.
  bool RateFell() const;
  // The line below all points that is highest at their mean time.
  double SlopeBelow() const;
  // The largest of the parts' smallest distances to the line of this slope below all points; infinite when a part has
  // no points.
  double LargestDistance(double slope) const;

  double max_skew_ = kMax;
  double skew_ = 0;
  Timestamp start_ = Timestamp::MinusInfinity();
  Timestamp bucket_end_ = Timestamp::MinusInfinity();
  // The smallest delay of this second.
  TimeDelta lowest_delay_ = TimeDelta::PlusInfinity();
  Timestamp lowest_time_ = Timestamp::MinusInfinity();
  DataSize size_ = DataSize::Zero();
  std::array<Point, kPoints> ring_{};
  size_t end_ = 0;
  size_t count_ = 0;
};

// --- Inline: called for each packet.

inline SendTime SendTime::After(TimeDelta time) const {
  if (time.IsZero()) return *this;
  const int64_t seconds = time.us() / internal::kMicrosPerSecond;
  const int64_t rest_us = time.us() % internal::kMicrosPerSecond;
  const int64_t later = seconds * ticks_per_second + rest_us * ticks_per_second / internal::kMicrosPerSecond;
  SendTime result = *this;
  result.ticks = (ticks + static_cast<uint32_t>(later)) & (~uint32_t{0} >> (32 - bits));
  return result;
}

[[gnu::always_inline]] inline int64_t SendClock::TicksSinceLast(Timestamp arrival, const SendTime& sent) const {
  const int64_t period_ticks = int64_t{1} << sent.bits;
  const int64_t period_us = internal::ToTime(period_ticks, sent.ticks_per_second).us();
  const int64_t step = internal::WrappingDifference(sent.ticks, last_ticks_, sent.bits);
  // By how much the sender's clock would have fallen behind the receiver's if it had not wrapped.
  const int64_t lag_us = internal::WrappingSubtract(internal::Difference(arrival, last_arrival_).us(),
                                                    internal::ToTime(step, sent.ticks_per_second).us());
  if (lag_us > period_us / 2) return step + (lag_us + period_us / 2) / period_us * period_ticks;
  if (lag_us < -period_us / 2) return step - (period_us / 2 - lag_us) / period_us * period_ticks;
  return step;
}

[[gnu::always_inline]] inline SendClock::Reading SendClock::Read(Timestamp arrival, const SendTime& sent) const {
  const int64_t ticks = unwrapped_ticks_ + TicksSinceLast(arrival, sent);
  return {ticks,
          internal::Difference(internal::Difference(arrival, start_), internal::ToTime(ticks, sent.ticks_per_second))};
}

inline SendClock::Result SendClock::Update(Timestamp arrival, const SendTime& sent) {
  if (!restarts_at(sent)) return Update(arrival, sent, Read(arrival, sent));
  *this = {};
  started_ = true;
  start_ = last_arrival_ = arrival;
  ticks_per_second_ = sent.ticks_per_second;
  last_ticks_ = sent.ticks;
  return {TimeDelta::Zero(), TimeDelta::Zero(), true};
}

inline SendClock::Result SendClock::Update(Timestamp arrival, const SendTime& sent, const Reading& reading) {
  unwrapped_ticks_ = reading.unwrapped_ticks;
  last_ticks_ = sent.ticks;
  last_arrival_ = arrival;
  const TimeDelta change = internal::Difference(reading.one_way_delay, last_delay_);
  last_delay_ = reading.one_way_delay;
  return {reading.one_way_delay, change, false};
}

[[gnu::always_inline]] inline bool SendTimeFilter::CanBe(Timestamp arrival, TimeDelta delay) const {
  using internal::Difference;
  return Difference(latest_sent_, internal::Earlier(arrival, delay)) <= kMaxLateness &&
         Difference(delay, clock_.last_delay()) <= kMaxStall &&
         delay >= Difference(std::min(lowest_now_, lowest_before_), kMaxAdvance);
}

[[gnu::always_inline]] inline void SendTimeFilter::Believe(Timestamp arrival, TimeDelta delay) {
  latest_sent_ = std::max(latest_sent_, internal::Earlier(arrival, delay));
  recent_delays_[recent_] = delay;
  recent_ = recent_ + 1 < recent_delays_.size() ? recent_ + 1 : 0;
  if (arrival >= lowest_until_) {
    lowest_before_ = lowest_now_;
    lowest_now_ = delay;
    lowest_until_ = arrival + kLowestWindow;
  }
  lowest_now_ = std::min(lowest_now_, delay);
}

[[gnu::always_inline]] inline SendTimeFilter::Result SendTimeFilter::Update(Timestamp arrival, const SendTime& sent) {
  if (clock_.restarts_at(sent)) return Restart(arrival, sent);
  const SendTime moved = sent.After(leaps_);
  const SendClock::Reading reading = clock_.Read(arrival, moved);
  if (!CanBe(arrival, reading.one_way_delay)) return OnImplausible(arrival, sent, moved, reading.one_way_delay);
  candidates_ = 0;
  Believe(arrival, reading.one_way_delay);
  return {true, false, clock_.Update(arrival, moved, reading)};
}

[[gnu::always_inline]] inline bool ClockSkew::Update(Timestamp time, TimeDelta delay, DataSize size) {
  // MinusInfinity before the first packet.
  const bool changed = time >= bucket_end_ && EndSecond(time);
  size_ += size;
  if (delay < lowest_delay_) {
    lowest_delay_ = delay;
    lowest_time_ = time;
  }
  return changed;
}

}  // namespace weir

#endif  // WEIR_ARRIVAL_SEND_CLOCK_H_
