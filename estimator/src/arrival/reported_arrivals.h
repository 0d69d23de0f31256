// Loss and queueing delay of packets that the remote end reports in transport-wide feedback.
#ifndef WEIR_ARRIVAL_REPORTED_ARRIVALS_H_
#define WEIR_ARRIVAL_REPORTED_ARRIVALS_H_

#include <cstdint>

#include "arrival/queueing_delay.h"
#include "weir/arrival.h"
#include "weir/units.h"

namespace weir {

// The sender's counterpart of ArrivalStatistics, which reads RTP. The sender has numbered the packets and timed their
// departures itself, and ReceiverClock has checked the arrivals: numbers are valid and unique, and times do not wrap.
// Allocates nothing.
class ReportedArrivals {
 public:
  // Called in the order of arrival times. A packet that arrived before the latest one counts as arriving with it.
  Arrival OnArrival(const ReportedArrival& reported);
  // See BaseDelay.
  void SetLowestRate(DataRate rate) { lowest_rate_ = rate; }

  // See ArrivalCounters.
  uint64_t reordered() const { return reordered_; }
  uint64_t clock_restarts() const { return clock_restarts_; }

 private:
  // See Arrival.
  int32_t LostChange(uint32_t number);
  void MeasureDelay(const ReportedArrival& reported, int32_t lost_change);

  bool any_ = false;
  uint32_t first_ = 0;
  uint32_t highest_ = 0;
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();

  bool any_delay_ = false;
  // One-way delays of the first and the latest packet that has one.
  TimeDelta first_delay_ = TimeDelta::Zero();
  TimeDelta latest_delay_ = TimeDelta::Zero();
  QueueingDelay queueing_delay_;
  QueueingDelay::Result measured_;
  DataRate lowest_rate_ = DataRate::Zero();
  uint64_t reordered_ = 0;
  uint64_t clock_restarts_ = 0;
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_REPORTED_ARRIVALS_H_
