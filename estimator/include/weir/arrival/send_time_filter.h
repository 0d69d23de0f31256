// Which send times can be believed, and what delays they would tell of if the sender's clock had never leapt.
#ifndef WEIR_ARRIVAL_SEND_TIME_FILTER_H_
#define WEIR_ARRIVAL_SEND_TIME_FILTER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "weir/arrival/send_clock.h"
#include "weir/units.h"

namespace weir {

// What a path can do to a delay is bounded, and what goes beyond is a clock or a stray packet:
//
// - A packet may overtake another, by less than kMaxLateness. One that was sent longer before the latest than this says
//   nothing of the queue.
// - A path may stall and deliver everything afterwards: then nothing arrives until the delay has risen. So a delay may
//   rise by as much as the silence was long, up to kMaxStall, and may fall at once to what it was.
// - A path may become quicker than it has been for half a minute, by less than kMaxAdvance. More, and all that follows
//   would be late against the one packet that says so.
//
// A send time beyond these is not believed. Where kConfirmations in a row agree with one another, the clock has leapt:
// from then on all are moved by the leap, so that the delay goes on from where it was and what is known of the path
// still holds. Steps that stay within the bounds are not told from a longer or shorter route.
class SendTimeFilter {
 public:
  static constexpr TimeDelta kMaxLateness = TimeDelta::Millis(500);
  static constexpr TimeDelta kMaxStall = TimeDelta::Seconds(10);
  static constexpr TimeDelta kMaxAdvance = TimeDelta::Millis(500);
  static constexpr int kConfirmations = 5;

  struct Result {
    // False: the send time says nothing of the queue.
    bool believed = false;
    // This packet has confirmed a leap.
    bool leapt = false;
    // Without leaps; only when believed.
    SendClock::Result delay{TimeDelta::Zero(), TimeDelta::Zero(), false};
  };

  // See SendClock for what times must be.
  Result Update(Timestamp arrival, const SendTime& sent);

 private:
  bool CanBe(Timestamp arrival, TimeDelta delay) const;
  void Believe(Timestamp arrival, TimeDelta delay);
  // Takes in what cannot be; true when that has confirmed a leap.
  bool Confirms(Timestamp arrival, const SendTime& sent, TimeDelta delay);
  TimeDelta ContinuedDelay() const;

  // Of what is believed.
  SendClock clock_;
  TimeDelta leaps_ = TimeDelta::Zero();
  Timestamp last_arrival_ = Timestamp::MinusInfinity();
  TimeDelta last_delay_ = TimeDelta::Zero();
  // By the sender's clock, as the receiver's shows it.
  Timestamp latest_sent_ = Timestamp::MinusInfinity();
  // The smallest delay, of this half-minute and the one before.
  Timestamp lowest_until_ = Timestamp::MinusInfinity();
  TimeDelta lowest_now_ = TimeDelta::Zero();
  TimeDelta lowest_before_ = TimeDelta::Zero();
  // The latest delays, the oldest is overwritten.
  std::array<TimeDelta, kConfirmations> recent_delays_ = {TimeDelta::Zero(), TimeDelta::Zero(), TimeDelta::Zero(),
                                                          TimeDelta::Zero(), TimeDelta::Zero()};
  size_t recent_ = 0;

  // Of those in a row that cannot be, and agree. Delays count from the first of them.
  int candidates_ = 0;
  SendClock candidate_clock_;
  Timestamp first_candidate_arrival_ = Timestamp::MinusInfinity();
  TimeDelta first_candidate_delay_ = TimeDelta::Zero();
  Timestamp latest_candidate_sent_ = Timestamp::MinusInfinity();
  TimeDelta last_candidate_delay_ = TimeDelta::Zero();
  TimeDelta lowest_candidate_delay_ = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_SEND_TIME_FILTER_H_
