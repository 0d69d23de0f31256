// The time that packets and their feedback take, and what may be in flight meanwhile.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_FEEDBACK_DELAY_H_
#define WEIR_ESTIMATOR_SRC_SENDER_FEEDBACK_DELAY_H_

#include "arrival/recurring_stops.h"
#include "sender/persistent_delay.h"
#include "weir/units.h"

namespace weir {

// All times are by the sender's clock, without its pauses.
class FeedbackDelay {
 public:
  // A feedback message came at `now`; `latest_arrival` is the latest that any has reported. Returns about when the
  // receiver sent it: the shortest return delay ago, and a little after the latest arrival.
  Timestamp OnFeedback(Timestamp now, Timestamp latest_arrival);
  // Before that, for a message that newly reports packets as received: the time since the oldest of them was sent.
  void OnReceived(Timestamp now, Timestamp latest_arrival, TimeDelta since_sent);
  // The one-way delay of its latest packet, and the rate in force.
  void OnOneWayDelay(Timestamp now, TimeDelta delay, DataRate rate);
  void OnClockRestart() { return_delay_ = TimeDelta::PlusInfinity(); }

  // SendSideEstimator::congestion_window(): what `rate` sends while feedback is under way and a queue waits.
  // `recurring_stop` is BandwidthEstimator::RecurringStop().
  DataSize CongestionWindow(Timestamp now, DataRate rate, TimeDelta recurring_stop) const;

 private:
  // The shortest time from the latest arrival of a message to the message.
  TimeDelta return_delay_ = TimeDelta::PlusInfinity();
  // The same of the latest message, or the longest of those that came with it. It may be late because its path is slow,
  // which does not fill the one of the media.
  TimeDelta latest_return_delay_ = TimeDelta::PlusInfinity();
  Timestamp batch_begins_ = Timestamp::MinusInfinity();
  // Beyond the shortest.
  RecurringStops return_stops_;
  // From sending the oldest packet that a message newly reports as received to its latest arrival: the shortest of the
  // last ones. PlusInfinity before the first.
  TimeDelta forward_delay_ = TimeDelta::PlusInfinity();
  PersistentDelay persistent_delay_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_FEEDBACK_DELAY_H_
