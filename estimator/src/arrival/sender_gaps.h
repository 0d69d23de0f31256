// Gaps between frames, and between other bursts of packets, that the sender made.
#ifndef WEIR_ARRIVAL_SENDER_GAPS_H_
#define WEIR_ARRIVAL_SENDER_GAPS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>

#include "arrival/send_clock.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// Predicts how long a sender of few frames, such as a shared screen or Opus with DTX, may send nothing. A frame may
// have many packets, so gaps count, not packets:
//
// 1. A gap is a time of at least G between two arrivals, of which at least G is between their departures: the rest is
//    delay. G is the time of three packets of 1200 bytes at the target, since the packets of a slow sender are apart,
//    and at least 50 ms. A gap ends with no packet that followed a loss, and begins and ends with packets whose delay
//    is known. At the sender, departures alone count: a pause of the feedback is no gap. After the target has risen, G
//    falls by half with each call of SetTarget(), since packets of the old rate are still under way.
// 2. A period is a gap and the packets since the gap before. Of more packets than twice the gap takes, the first period
//    has only these.
// 3. Packets without a gap for more than twice the longest period are running video, and clear the periods.
//
// Adding a packet takes a few nanoseconds.
class SenderGaps {
 public:
  // The rate at which the sender may send, 0 for none; infinite at first.
  void SetTarget(DataRate target) {
    const TimeDelta shortest = kFullPacket * 3 / std::max(target, DataRate::BitsPerSecond(1));
    shortest_ = std::max({kShortest, shortest, shortest_ * 0.5});
  }

  // Returns true if the packet ended a gap.
  bool OnArrival(const Arrival& arrival) {
    if (arrival.send_time.IsFinite()) return OnDeparture(arrival.send_time, arrival.lost_change > 0);
    const bool had_delay = std::exchange(has_delay_, arrival.has_delay);
    const bool is_known = had_delay && has_delay_ && arrival.lost_change <= 0;
    const TimeDelta delayed = is_known ? std::max(arrival.delay_change, TimeDelta::Zero()) : TimeDelta::PlusInfinity();
    return Add(arrival.packet.arrival_time, delayed);
  }

  // Three times the mean of the last three periods, at most 5 s: a pause up to this is expected. Zero while video runs.
  TimeDelta Expected() const { return expected_; }
  // True if Expected() has three periods.
  bool HasRhythm() const { return count_ >= periods_us_.size(); }

 private:
  static constexpr TimeDelta kShortest = TimeDelta::Millis(50);
  static constexpr TimeDelta kMaxExpected = TimeDelta::Seconds(5);
  // Longer gaps and bursts count as this long.
  static constexpr TimeDelta kLongest = TimeDelta::Seconds(60);
  static constexpr int64_t kPeriods = 3;
  static constexpr double kRuns = 2;

  bool OnDeparture(Timestamp time, bool followed_loss) {
    // Reported late.
    if (time < latest_) return false;
    return Add(time, followed_loss ? TimeDelta::PlusInfinity() : TimeDelta::Zero());
  }

  // `delayed` is the part of the time since the previous packet that the sender did not make.
  bool Add(Timestamp time, TimeDelta delayed) {
    const bool is_first = !latest_.IsFinite() || time < latest_;
    const Timestamp before = is_first ? time : latest_;
    const TimeDelta silence = internal::Difference(time, before);
    latest_ = time;
    if (is_first || silence >= shortest_) [[unlikely]] {
      const TimeDelta burst = before - std::min(burst_start_, before);
      burst_start_ = time;
      const bool is_gap = silence >= shortest_ && silence - delayed >= shortest_;
      if (is_gap) AddPeriod(silence - delayed, burst);
      return is_gap;
    }
    if (!longest_.IsZero() && time - burst_start_ > longest_ * kRuns) [[unlikely]]
      Clear();
    return false;
  }

  void AddPeriod(TimeDelta gap, TimeDelta burst) {
    const TimeDelta counted = std::min(gap, kLongest);
    const TimeDelta packets = std::min(burst, longest_.IsZero() ? counted * kRuns : kLongest);
    const TimeDelta period = counted + packets;
    periods_us_[count_++ % periods_us_.size()] = period.us();
    longest_ = TimeDelta::Micros(*std::max_element(periods_us_.begin(), periods_us_.end()));
    const int64_t sum_us = std::accumulate(periods_us_.begin(), periods_us_.end(), int64_t{0});
    const auto known = static_cast<int64_t>(std::min(count_, periods_us_.size()));
    expected_ = std::min(TimeDelta::Micros(sum_us * kPeriods / known), kMaxExpected);
  }

  void Clear() {
    periods_us_ = {};
    count_ = 0;
    longest_ = expected_ = TimeDelta::Zero();
  }

  TimeDelta shortest_ = kShortest;
  // The latest packet had a delay.
  bool has_delay_ = false;
  Timestamp latest_ = Timestamp::MinusInfinity();
  // The first packet after the latest gap.
  Timestamp burst_start_ = Timestamp::MinusInfinity();
  std::array<int64_t, 3> periods_us_{};
  size_t count_ = 0;
  TimeDelta longest_ = TimeDelta::Zero();
  TimeDelta expected_ = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_SENDER_GAPS_H_
