// The sender's clock without the sender's pauses.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_SENDER_CLOCK_H_
#define WEIR_ESTIMATOR_SRC_SENDER_SENDER_CLOCK_H_

#include <algorithm>

#include "weir/units.h"

namespace weir {

// Longer than receivers wait between two feedback messages while packets arrive (libwebrtc: 50 to 250 ms).
inline constexpr TimeDelta kFeedbackTimeout = TimeDelta::Millis(300);

// Without packets there is no feedback, and no outage: time stops when a pause begins, and continues with the next
// packet. A pause begins
//
// 1. kFeedbackTimeout after the latest packet and the latest report, if the fate of all packets is known;
// 2. else 2 s after the latest packet, since packets lost just before a pause may never be reported.
//
// "Host time" is the host's clock, which includes the pauses. now() never runs backwards.
class SenderClock {
 public:
  bool started() const { return now_.IsFinite(); }
  // Time of the latest call.
  Timestamp now() const { return now_; }
  Timestamp host_now() const { return now_ + paused_; }
  Timestamp WithoutPauses(Timestamp host_time) const { return host_time - paused_; }
  Timestamp WithPauses(Timestamp time) const { return time + paused_; }

  // `latest_report` is when the latest arrival was reported.
  Timestamp PauseBegins(bool all_settled, Timestamp latest_report) const {
    const Timestamp begins = all_settled ? std::max(latest_departure_, latest_report) + kFeedbackTimeout
                                         : latest_departure_ + kMaxUnanswered;
    return std::max(begins, now_);
  }

  // Called for each packet, with PauseBegins(). Returns the length of the pause that the packet ends, or zero.
  TimeDelta OnSentPacket(Timestamp host_time, Timestamp pause_begins) {
    TimeDelta pause = TimeDelta::Zero();
    if (started() && WithoutPauses(host_time) > pause_begins) pause = WithoutPauses(host_time) - pause_begins;
    paused_ += pause;
    latest_departure_ = now_ = std::max(now_, WithoutPauses(host_time));
    return pause;
  }
  // Called for other events. The time becomes at most `limit`.
  void Advance(Timestamp host_time, Timestamp limit) {
    now_ = std::max(now_, std::min(WithoutPauses(host_time), limit));
  }

 private:
  static constexpr TimeDelta kMaxUnanswered = TimeDelta::Seconds(2);

  // Sum of the pauses. The times below exclude them.
  TimeDelta paused_ = TimeDelta::Zero();
  Timestamp now_ = Timestamp::MinusInfinity();
  Timestamp latest_departure_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_SENDER_CLOCK_H_
