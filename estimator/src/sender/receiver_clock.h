// The receiver's clock by the sender's.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_RECEIVER_CLOCK_H_
#define WEIR_ESTIMATOR_SRC_SENDER_RECEIVER_CLOCK_H_

#include "sender/clock_drift.h"
#include "weir/units.h"

namespace weir {

// The origin of the receiver's clock is arbitrary, and hosts unwrap it from 24 bits; only its differences count. The
// sender's clock tells which of them are possible: no packet arrives after its report, nor far earlier than the fastest
// before it, unless its report came earlier too, since a queue drained; nor do delays fall on and on. Other times count
// only after several messages in a row agreed on a step.
class ReceiverClock {
 public:
  // The latest packet that a feedback message reports: its receive time, and the time from its departure to the
  // message, which came at `now`. `latest_arrival` is that of earlier messages, by the sender's clock. Returns true
  // when a step of the receiver's clock is confirmed.
  bool OnFeedback(Timestamp now, Timestamp latest_arrival, Timestamp receive_time, TimeDelta since_sent);

  // When a packet of the latest message arrived, by the sender's clock.
  Timestamp ArrivalTime(Timestamp now, Timestamp receive_time, TimeDelta since_sent) const;
  // False: that is a guess.
  bool is_plausible() const { return plausible_; }
  // The one-way delay of the latest packet in the latest plausible message; PlusInfinity before the first.
  TimeDelta latest_delay() const { return latest_delay_; }
  // A pause that the sender's clock excludes.
  void OnPause(TimeDelta pause) { offset_ -= pause; }

 private:
  bool OnImplausible(TimeDelta shift);

  // From the receiver's clock to the sender's.
  TimeDelta offset_ = TimeDelta::Zero();
  ClockDrift drift_;
  TimeDelta latest_delay_ = TimeDelta::PlusInfinity();
  // The lowest of the last ones.
  TimeDelta lowest_delay_ = TimeDelta::PlusInfinity();
  // The shortest time from sending such a packet to its message, of the last ones.
  TimeDelta lowest_since_sent_ = TimeDelta::PlusInfinity();
  // How far the lowest delay fell in the last messages without an earlier report.
  TimeDelta fallen_ = TimeDelta::Zero();
  bool plausible_ = true;
  // Messages in a row whose times need the same shift.
  int implausible_messages_ = 0;
  TimeDelta shift_ = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_RECEIVER_CLOCK_H_
