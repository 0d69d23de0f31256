#include "sender/receiver_clock.h"

#include <algorithm>

namespace weir {
namespace {

// Growth of the lowest delay with each feedback message, so that a slower path is learned within seconds.
constexpr TimeDelta kDelayGrowth = TimeDelta::Millis(1);
// A first message that was late by this makes later ones look early by as much.
constexpr TimeDelta kMaxAdvance = TimeDelta::Millis(150);
// Largest difference between the delays of two messages, and between two measurements of the same clock step.
constexpr TimeDelta kSame = TimeDelta::Millis(100);
// Largest total by which the delays of the latest messages may fall, each by no more than kSame.
constexpr TimeDelta kMaxFall = TimeDelta::Millis(150);
// Number of consecutive feedback messages with the same step of the receiver's clock that confirm it.
constexpr int kConfirmations = 5;

}  // namespace

bool ReceiverClock::OnFeedback(Timestamp now, Timestamp latest_arrival, Timestamp receive_time, TimeDelta since_sent) {
  const bool first = !latest_delay_.IsFinite();
  if (first) offset_ = std::max(now, latest_arrival) - receive_time;
  offset_ -= drift_.Update(now, since_sent, since_sent - (now - (receive_time + offset_)));
  const Timestamp arrival = receive_time + offset_;
  const TimeDelta delay = since_sent - (now - arrival);
  const TimeDelta faster = first ? TimeDelta::Zero() : std::max(lowest_since_sent_ - since_sent, TimeDelta::Zero());
  const TimeDelta fall = first ? TimeDelta::Zero() : std::max(lowest_delay_ - delay - faster, TimeDelta::Zero());
  plausible_ = arrival <= now + kMaxAdvance && fall <= std::min(kSame, kMaxFall - fallen_);
  if (!plausible_) return OnImplausible(std::min(latest_delay_, since_sent) - delay);
  implausible_messages_ = 0;
  fallen_ = std::max(fallen_ - kDelayGrowth, TimeDelta::Zero()) + fall;
  latest_delay_ = delay;
  lowest_delay_ = std::min(first ? delay : lowest_delay_ + kDelayGrowth, delay);
  lowest_since_sent_ = std::min(first ? since_sent : lowest_since_sent_ + kDelayGrowth, since_sent);
  return false;
}

// Called if the receiver's clock may have stepped by -`shift`.
bool ReceiverClock::OnImplausible(TimeDelta shift) {
  if ((shift - shift_).Abs() > kSame) implausible_messages_ = 0;
  shift_ = shift;
  if (++implausible_messages_ < kConfirmations) return false;
  offset_ += shift;
  implausible_messages_ = 0;
  plausible_ = true;
  return true;
}

Timestamp ReceiverClock::ArrivalTime(Timestamp now, Timestamp receive_time, TimeDelta since_sent) const {
  return plausible_ ? receive_time + offset_ : now - std::max(since_sent - latest_delay_, TimeDelta::Zero());
}

}  // namespace weir
