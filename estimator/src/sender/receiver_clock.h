// Conversion from the receiver's clock to the sender's.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_RECEIVER_CLOCK_H_
#define WEIR_ESTIMATOR_SRC_SENDER_RECEIVER_CLOCK_H_

#include "sender/clock_drift.h"
#include "weir/units.h"

namespace weir {

// The receiver's clock has an arbitrary origin, and hosts unwrap it from 24 bits, so only differences count. The
// sender's clock shows which times are possible: a packet arrives before its report, and not much faster than the
// fastest one before it, unless its report also came earlier because a queue drained. Delays do not fall indefinitely.
// Other times count only after several consecutive messages agree on a step.
class ReceiverClock {
 public:
  // Called for the latest packet that a feedback message reports, with its receive time and the time from its departure
  // to the arrival of the message at `now`. `latest_arrival` is that of earlier messages, on the sender's clock.
  // Returns true if this confirms a step of the receiver's clock.
  bool OnFeedback(Timestamp now, Timestamp latest_arrival, Timestamp receive_time, TimeDelta since_sent);

  // The arrival time of a packet of the latest message, on the sender's clock.
  Timestamp ArrivalTime(Timestamp now, Timestamp receive_time, TimeDelta since_sent) const;
  // False if that is a guess.
  bool is_plausible() const { return plausible_; }
  // The one-way delay of the latest packet in the latest plausible message; PlusInfinity before the first.
  TimeDelta latest_delay() const { return latest_delay_; }
  // Called with a pause that the sender's clock excludes.
  void OnPause(TimeDelta pause) { offset_ -= pause; }

 private:
  bool OnImplausible(TimeDelta shift);

  // Offset from the receiver's clock to the sender's.
  TimeDelta offset_ = TimeDelta::Zero();
  ClockDrift drift_;
  TimeDelta latest_delay_ = TimeDelta::PlusInfinity();
  // Lowest recent one-way delay.
  TimeDelta lowest_delay_ = TimeDelta::PlusInfinity();
  // Shortest recent time from sending such a packet to the arrival of its message.
  TimeDelta lowest_since_sent_ = TimeDelta::PlusInfinity();
  // Amount by which the lowest delay fell in the last messages without an earlier report.
  TimeDelta fallen_ = TimeDelta::Zero();
  bool plausible_ = true;
  // Number of consecutive messages whose times need the same shift.
  int implausible_messages_ = 0;
  TimeDelta shift_ = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_RECEIVER_CLOCK_H_
