// Delays of packets and of feedback on them, and the congestion window that they imply.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_FEEDBACK_DELAY_H_
#define WEIR_ESTIMATOR_SRC_SENDER_FEEDBACK_DELAY_H_

#include "arrival/recurring_stops.h"
#include "sender/persistent_delay.h"
#include "weir/units.h"

namespace weir {

// Times since packets were sent: the oldest that a feedback message is the first to report as received, and the oldest
// that it skips, since feedback on them was lost. MinusInfinity without such a packet.
struct OldestPackets {
  TimeDelta received = TimeDelta::MinusInfinity();
  TimeDelta skipped = TimeDelta::MinusInfinity();
};

// All times are on the sender's clock and exclude its pauses.
class FeedbackDelay {
 public:
  // Called when a feedback message arrives at `now`. `latest_arrival` is the latest that any message has reported.
  // Estimates when the receiver sent it: the shortest return delay ago, and soon after the latest arrival.
  Timestamp OnFeedback(Timestamp now, Timestamp latest_arrival);
  // Called before OnFeedback() for a message that is the first to report some packets as received.
  void OnReceived(Timestamp now, Timestamp latest_arrival, const OldestPackets& oldest);
  // Called with the one-way delay of the message's latest packet, and the rate in force.
  void OnOneWayDelay(Timestamp now, TimeDelta delay, DataRate rate);
  void OnClockRestart() { return_delay_ = TimeDelta::PlusInfinity(); }

  // SendSideEstimator::congestion_window(): the data sent at `rate` during the delay of feedback and the time of the
  // allowed queue. `recurring_stop` is BandwidthEstimator::RecurringStop(), of which 500 ms count.
  DataSize CongestionWindow(Timestamp now, DataRate rate, TimeDelta recurring_stop) const;

 private:
  // Shortest time from the latest arrival that a message reports until the message arrived.
  TimeDelta return_delay_ = TimeDelta::PlusInfinity();
  // The same time for the latest message, or the longest of those that arrived with it. A slow return path may delay
  // it, which does not fill the forward path.
  TimeDelta latest_return_delay_ = TimeDelta::PlusInfinity();
  Timestamp batch_begins_ = Timestamp::MinusInfinity();
  // Stops of the return path, beyond the shortest delay.
  RecurringStops return_stops_;
  // Times by which lost feedback delays the report on a packet.
  RecurringStops lost_feedback_;
  // Shortest recent time from sending the oldest packet that a message is the first to report as received, to its
  // latest arrival. PlusInfinity before the first.
  TimeDelta forward_delay_ = TimeDelta::PlusInfinity();
  PersistentDelay persistent_delay_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_FEEDBACK_DELAY_H_
