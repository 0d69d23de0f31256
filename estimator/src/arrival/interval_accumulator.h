// Aggregates arrivals into one IntervalStatistics per decision interval, in constant memory.
#ifndef WEIR_ARRIVAL_INTERVAL_ACCUMULATOR_H_
#define WEIR_ARRIVAL_INTERVAL_ACCUMULATOR_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrival/derived_statistics.h"
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

class IntervalAccumulator {
 public:
  // Begins the first interval, which otherwise begins with the first arrival.
  void Start(Timestamp now);
  void OnArrival(const Arrival& arrival);
  // See DerivedStatistics.
  void OnRoundTripTime(TimeDelta round_trip_time) { derived_.OnRoundTripTime(round_trip_time); }

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
  SenderGaps sender_gaps_;
  TimeDelta last_queueing_delay_ = TimeDelta::Zero();
  double jitter_us_ = 0;
  // Lost minus late packets. A negative balance is carried into the next interval.
  int64_t lost_balance_ = 0;
  DerivedStatistics derived_;

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
