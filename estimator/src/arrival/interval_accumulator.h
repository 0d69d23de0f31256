// Aggregates arrivals into one IntervalStatistics per decision interval, in constant memory.
#ifndef WEIR_ARRIVAL_INTERVAL_ACCUMULATOR_H_
#define WEIR_ARRIVAL_INTERVAL_ACCUMULATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrival/queueing_delay.h"
#include "arrival/sender_gaps.h"
#include "weir/arrival.h"
#include "weir/interval_statistics.h"
#include "weir/units.h"

namespace weir {

namespace internal {

// Histogram of delays, in bins whose width is at most an eighth of their value.
class DelayHistogram {
 public:
  void Add(int64_t delay_us);
  // Returns the nearest-rank quantile, at the middle of its bin. `count` is the number of values added since Clear()
  // and must not be 0.
  int64_t Quantile(double quantile, int64_t count) const;
  void Clear();

 private:
  // Delays from 2^28 us (268 s) on share the last bin.
  static constexpr int kOctaves = 26;
  static constexpr int kBinsPerOctave = 8;
  static constexpr size_t kBins = kOctaves * kBinsPerOctave;

  static size_t Bin(int64_t delay_us);

  std::array<uint32_t, kBins> bins_{};
  // Range of bins in use, so that Clear() after a short interval clears few.
  size_t lowest_ = kBins;
  size_t highest_ = 0;
};

}  // namespace internal

// Memory of the last ten seconds, for features that need more than a history of intervals.
class PathMemory {
 public:
  // Adds an interval and writes its fields about the path: delay_noise_s and those with _10s.
  void Add(IntervalStatistics& statistics);

 private:
  // Sums over about a second.
  struct Slot {
    double duration_s = 0;
    double bytes = 0;
    double received = 0;
    double lost = 0;
    double received_at_short_queue = 0;
    double lost_at_short_queue = 0;
    double queue_min_s = 0;
    double queue_max_s = 0;
    bool has_delay = false;
  };
  static constexpr size_t kSlots = 10;

  // Clears everything but the noise at the end of an outage: its losses, and the delays of packets that waited in it,
  // do not describe the path afterwards. A pause of the sender loses nothing and is no outage.
  void ForgetOutage(const IntervalStatistics& statistics);
  // Writes the loss ratios of the half of the slots in which less was sent, and of the other half.
  void WriteLossByRate(IntervalStatistics& statistics) const;

  std::array<Slot, kSlots> slots_;
  size_t slot_ = 0;
  // Time without packets, and time left in which packets that waited in an outage may arrive.
  double silence_s_ = 0;
  double backlog_s_ = 0;
  // The smallest queueing delays of the last intervals with packets.
  DelayNoise noise_;
};

class IntervalAccumulator {
 public:
  // Begins the first interval, which otherwise begins with the first arrival.
  void Start(Timestamp now);
  void OnArrival(const Arrival& arrival);
  // Ignored unless above 0 and at most a minute.
  void OnRoundTripTime(TimeDelta round_trip_time);

  // Ends the interval that began at the previous call and begins the next. Every value of the result is finite for any
  // input. The length of the interval is measured on the clock of `now`. Only differences of arrival times matter.
  IntervalStatistics Take(Timestamp now, DataRate last_estimate);
  // True if no packet arrived in the interval that would end at `now`, and the pause is not longer than the sender's
  // earlier gaps predict (SenderGaps). Such an interval contains nothing about the path. Always false at the sender.
  bool SenderIsIdle(Timestamp now) const;
  // Begins an interval at `now` in place of the present one, which must have no packets and belongs to no result.
  void Skip(Timestamp now, DataRate last_estimate);

 private:
  void TakeDelays(IntervalStatistics& statistics) const;
  void Clear();

  // State that continues across intervals.
  Timestamp interval_start_ = Timestamp::MinusInfinity();
  Timestamp last_arrival_time_ = Timestamp::MinusInfinity();
  double time_since_last_packet_s_ = 0;
  SenderGaps sender_gaps_;
  // Ring buffer of the latest reports.
  std::array<int64_t, 10> round_trip_times_us_{};
  size_t round_trip_times_ = 0;
  TimeDelta base_round_trip_time_ = kAssumedRoundTripTime;
  TimeDelta last_queueing_delay_ = TimeDelta::Zero();
  double jitter_us_ = 0;
  // Lost minus late packets. A negative balance is carried into the next interval.
  int64_t lost_balance_ = 0;
  PathMemory memory_;

  // State of this interval.
  int64_t packets_ = 0;
  int64_t bytes_ = 0;
  std::array<int64_t, 4> packets_of_kind_{};
  int64_t gaps_ = 0;
  double gap_sum_us_ = 0;
  int64_t delays_ = 0;
  double delay_sum_us_ = 0;
  int64_t delay_min_us_ = 0;
  int64_t delay_max_us_ = 0;
  internal::DelayHistogram histogram_;
  // Sums for the least-squares slope of queueing delay over arrival time, relative to the interval's first delay
  // sample.
  Timestamp gradient_origin_ = Timestamp::MinusInfinity();
  double sum_t_ = 0;
  double sum_tt_ = 0;
  double sum_td_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_INTERVAL_ACCUMULATOR_H_
