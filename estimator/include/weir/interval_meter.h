// Interval statistics for a host's own log or getStats(), in intervals of the host's choice.
#ifndef WEIR_INTERVAL_METER_H_
#define WEIR_INTERVAL_METER_H_

#include <memory>

#include "weir/arrival.h"
#include "weir/interval_statistics.h"
#include "weir/units.h"

namespace weir {

class IntervalAccumulator;

// Aggregates arrivals into one IntervalStatistics per interval, in constant memory. Allocates only at construction.
class IntervalMeter {
 public:
  IntervalMeter();
  IntervalMeter(IntervalMeter&&) noexcept;
  IntervalMeter& operator=(IntervalMeter&&) noexcept;
  ~IntervalMeter();

  // Begins the first interval, which otherwise begins with the first arrival.
  void Start(Timestamp now);
  // Called with each result of BandwidthEstimator::OnPacket().
  void OnArrival(const Arrival& arrival);
  // Ignored unless IsRoundTripTime() holds.
  void OnRoundTripTime(TimeDelta round_trip_time);
  // Ends the interval that began at the previous call and begins the next. `target` was in force during the interval.
  IntervalStatistics Take(Timestamp now, DataRate target);

 private:
  std::unique_ptr<IntervalAccumulator> accumulator_;
};

}  // namespace weir

#endif  // WEIR_INTERVAL_METER_H_
