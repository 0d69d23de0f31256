// Statistics of an interval that follow from its counts and delays, and from the intervals before it.
#ifndef WEIR_ARRIVAL_DERIVED_STATISTICS_H_
#define WEIR_ARRIVAL_DERIVED_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "arrival/path_memory.h"
#include "weir/interval_statistics.h"
#include "weir/units.h"

namespace weir {

// The one place where these features are computed, for all sources of intervals: packets (IntervalAccumulator) and
// reports of a sender (MoccSender).
class DerivedStatistics {
 public:
  // Ignored unless IsRoundTripTime() holds.
  void OnRoundTripTime(TimeDelta round_trip_time);

  // Called once per interval, in their order. Reads of `statistics`
  //
  //   1. interval_s, packets_received, bytes_received, packets_lost, all at least 0;
  //   2. the queueing delays; without packets, those of the last packet;
  //   3. with packets, time_since_last_packet_s, at most interval_s
  //
  // and writes receive_rate_bps, loss_ratio, sending_ratio, base_round_trip_time_s, delay_ratio,
  // time_since_last_packet_s, application_limited, last_estimate_bps, delay_noise_s and all fields with _10s.
  void Complete(IntervalStatistics& statistics, DataRate last_estimate);

  // Time since the last packet at the end of the latest interval.
  double time_since_last_packet_s() const { return time_since_last_packet_s_; }
  // Counts an interval without packets that belongs to no statistics.
  void Skip(double interval_s) { time_since_last_packet_s_ += interval_s; }

 private:
  double time_since_last_packet_s_ = 0;
  // Ring buffer of the latest reports.
  std::array<int64_t, 10> round_trip_times_us_{};
  size_t round_trip_times_ = 0;
  TimeDelta base_round_trip_time_ = kAssumedRoundTripTime;
  PathMemory memory_;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_DERIVED_STATISTICS_H_
