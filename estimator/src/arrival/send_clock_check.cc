#include "arrival/send_clock_check.h"

#include <cmath>

namespace weir {
namespace {

constexpr TimeDelta kSilence = TimeDelta::Seconds(2);
// A step of either clock, not a drift.
constexpr TimeDelta kStep = TimeDelta::Millis(500);
constexpr double kFastest = 1.5;
constexpr TimeDelta kPeriod = TimeDelta::Seconds(30);
constexpr TimeDelta kShortest = TimeDelta::Seconds(5);

}  // namespace

void SendClockCheck::Restart() {
  const bool is_wrong = is_wrong_;
  *this = {};
  is_wrong_ = is_wrong;
}

bool SendClockCheck::Begins(uint32_t ssrc, Timestamp arrival_time) {
  if (arrival_time - latest_ < kSilence) return false;
  Restart();
  ssrc_ = ssrc;
  return true;
}

void SendClockCheck::OnFrame(Timestamp arrival_time, const SendTime& abs_send_time, const SendTime& rtp_timestamp) {
  const TimeDelta before = captures_.last_delay() - departures_.last_delay();
  const SendClock::Result departure = departures_.Update(arrival_time, abs_send_time);
  const SendClock::Result capture = captures_.Update(arrival_time, rtp_timestamp);
  const TimeDelta until_departure = capture.one_way_delay - departure.one_way_delay;
  const bool any_before = latest_.IsFinite();
  const TimeDelta most = kStep + (any_before ? arrival_time - latest_ : TimeDelta::Zero()) * kFastest;
  if (any_before && (capture.restarted || (until_departure - before).Abs() > most)) {
    const uint32_t ssrc = ssrc_;
    Restart();
    ssrc_ = ssrc;
    return OnFrame(arrival_time, abs_send_time, rtp_timestamp);
  }
  latest_ = arrival_time;
  latest_rtp_timestamp_ = rtp_timestamp.ticks;
  if (!any_before) compared_since_ = arrival_time;
  if (!any_before || arrival_time - start_ >= kPeriod) {
    start_ = arrival_time;
    first_departure_delay_ = departure.one_way_delay;
    first_capture_delay_ = capture.one_way_delay;
  }
  drift_.Update(arrival_time, until_departure, size_);
  size_ = DataSize::Zero();
  Judge(arrival_time);
}

void SendClockCheck::Judge(Timestamp arrival_time) {
  if (std::abs(drift_.skew()) <= ClockSkew::kMax) {
    // A stream has just begun to be compared: the verdict on the one before it stays.
    is_wrong_ = is_wrong_ && arrival_time - compared_since_ < kPeriod;
    return;
  }
  if (arrival_time - start_ < kShortest) return;
  const TimeDelta departures = (departures_.last_delay() - first_departure_delay_).Abs();
  const TimeDelta captures = (captures_.last_delay() - first_capture_delay_).Abs();
  if (departures >= captures * 2) is_wrong_ = true;
  if (captures >= departures * 2) is_wrong_ = false;
}

}  // namespace weir
