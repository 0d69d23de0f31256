#include "weir/arrival/send_time_filter.h"

#include <algorithm>

namespace weir {
namespace {

constexpr TimeDelta kLowestWindow = TimeDelta::Seconds(30);
// Longer than media rests between two frames.
constexpr TimeDelta kSilence = TimeDelta::Millis(100);

}  // namespace

SendTimeFilter::Result SendTimeFilter::Update(Timestamp arrival, const SendTime& sent) {
  if (clock_.restarts_at(sent)) {
    *this = {};
    lowest_until_ = arrival + kLowestWindow;
    Believe(arrival, TimeDelta::Zero());
    recent_delays_.fill(TimeDelta::Zero());
    return {true, false, clock_.Update(arrival, sent)};
  }
  SendTime moved = sent.After(leaps_);
  SendClock::Reading reading = clock_.Read(arrival, moved);
  const bool can_be = CanBe(arrival, reading.one_way_delay);
  if (!can_be) {
    if (!Confirms(arrival, moved, reading.one_way_delay)) return {};
    const TimeDelta leap = first_candidate_delay_ + lowest_candidate_delay_ - ContinuedDelay();
    leaps_ += leap;
    moved = sent.After(leaps_);
    reading = clock_.Read(arrival, moved);
    latest_sent_ = Timestamp::MinusInfinity();
  }
  candidates_ = 0;
  Believe(arrival, reading.one_way_delay);
  return {true, !can_be, clock_.Update(arrival, moved, reading)};
}

bool SendTimeFilter::CanBe(Timestamp arrival, TimeDelta delay) const {
  return latest_sent_ - (arrival - delay) <= kMaxLateness && delay - last_delay_ <= kMaxStall &&
         delay >= std::min(lowest_now_, lowest_before_) - kMaxAdvance;
}

void SendTimeFilter::Believe(Timestamp arrival, TimeDelta delay) {
  last_arrival_ = arrival;
  last_delay_ = delay;
  latest_sent_ = std::max(latest_sent_, arrival - delay);
  recent_delays_[recent_++ % recent_delays_.size()] = delay;
  if (arrival >= lowest_until_) {
    lowest_before_ = lowest_now_;
    lowest_now_ = delay;
    lowest_until_ = arrival + kLowestWindow;
  }
  lowest_now_ = std::min(lowest_now_, delay);
}

bool SendTimeFilter::Confirms(Timestamp arrival, const SendTime& sent, TimeDelta delay) {
  if (candidates_ > 0) {
    const TimeDelta since_first = candidate_clock_.Read(arrival, sent).one_way_delay;
    const Timestamp sent_at = arrival - since_first;
    // Of the same frame, or overtaken: no further evidence.
    if (sent_at <= latest_candidate_sent_ && latest_candidate_sent_ - sent_at <= kMaxLateness) return false;
    if (sent_at <= latest_candidate_sent_ || (since_first - last_candidate_delay_).Abs() > kMaxLateness) {
      candidates_ = 0;
    }
  }
  if (candidates_ == 0) {
    candidate_clock_ = {};
    first_candidate_arrival_ = arrival;
    first_candidate_delay_ = delay;
    lowest_candidate_delay_ = TimeDelta::Zero();
  }
  last_candidate_delay_ = candidate_clock_.Update(arrival, sent).one_way_delay;
  lowest_candidate_delay_ = std::min(lowest_candidate_delay_, last_candidate_delay_);
  latest_candidate_sent_ = arrival - last_candidate_delay_;
  return ++candidates_ == kConfirmations;
}

// Where the delay goes on after a leap: at the lowest of a few packets on either side, for the sake of jitter. A
// silence empties a queue; too high a level is mended by the first quicker packet, too low a one is not.
TimeDelta SendTimeFilter::ContinuedDelay() const {
  const TimeDelta before = *std::min_element(recent_delays_.begin(), recent_delays_.end());
  const TimeDelta gap = first_candidate_arrival_ - last_arrival_;
  if (gap < kSilence) return before;
  return std::max(before - gap, std::min(lowest_now_, lowest_before_));
}

}  // namespace weir
