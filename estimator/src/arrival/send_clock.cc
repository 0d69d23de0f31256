#include "arrival/send_clock.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir {
namespace {

// Longer than a gap between two frames.
constexpr TimeDelta kSilence = TimeDelta::Millis(100);

constexpr TimeDelta kBucket = TimeDelta::Seconds(1);
constexpr double kWindowS = 30;
// A clock that is wrong by 3000 ppm takes as long to look like a queue of 15 ms.
constexpr double kShortestS = 5;
// Delays of queues and routes rarely grow evenly for so long.
constexpr double kLongS = 20;
// At such a share of an earlier rate a queue drains by more in a second than any clock drifts in half a minute.
constexpr double kFallen = 0.85;
constexpr double kTimesDistance = 12;
// Common error of oscillators; 0.45 ms in the window.
constexpr double kNegligible = 15e-6;
constexpr double kSmallestChange = 5e-6;

}  // namespace

SendTimeFilter::Result SendTimeFilter::Restart(Timestamp arrival, const SendTime& sent) {
  *this = {};
  lowest_until_ = arrival + kLowestWindow;
  Believe(arrival, TimeDelta::Zero());
  recent_delays_.fill(TimeDelta::Zero());
  return {true, false, clock_.Update(arrival, sent)};
}

SendTimeFilter::Result SendTimeFilter::OnImplausible(Timestamp arrival, const SendTime& sent, const SendTime& moved,
                                                     TimeDelta delay) {
  if (!Confirms(arrival, moved, delay)) return {};
  leaps_ += first_candidate_delay_ + lowest_candidate_delay_ - ContinuedDelay();
  const SendTime continued = sent.After(leaps_);
  const SendClock::Reading reading = clock_.Read(arrival, continued);
  latest_sent_ = Timestamp::MinusInfinity();
  candidates_ = 0;
  Believe(arrival, reading.one_way_delay);
  return {true, true, clock_.Update(arrival, continued, reading)};
}

bool SendTimeFilter::Confirms(Timestamp arrival, const SendTime& sent, TimeDelta delay) {
  if (candidates_ > 0) {
    const TimeDelta since_first = candidate_clock_.Read(arrival, sent).one_way_delay;
    const Timestamp sent_at = arrival - since_first;
    // A packet of the same frame, or an overtaken one, is no further evidence.
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

// The delay continues after a leap at the lowest of a few packets on either side, because of jitter. A pause empties
// a queue; the first faster packet corrects a level that is too high, but nothing corrects one that is too low.
TimeDelta SendTimeFilter::ContinuedDelay() const {
  const TimeDelta before = *std::min_element(recent_delays_.begin(), recent_delays_.end());
  const TimeDelta gap = first_candidate_arrival_ - clock_.last_arrival();
  if (gap < kSilence) return before;
  return std::max(before - gap, std::min(lowest_now_, lowest_before_));
}

bool ClockSkew::EndSecond(Timestamp time) {
  if (!start_.IsFinite()) {
    start_ = time;
    bucket_end_ = time + kBucket;
    return false;
  }
  const TimeDelta duration = time - bucket_end_ + kBucket;
  ring_[end_++ % kPoints] = {(lowest_time_ - start_).seconds(), lowest_delay_.seconds(), size_ / duration};
  size_ = DataSize::Zero();
  count_ = std::min(count_ + 1, kPoints);
  lowest_delay_ = TimeDelta::PlusInfinity();
  bucket_end_ = time + kBucket;
  DropOldPoints((time - start_).seconds());
  return Estimate();
}

void ClockSkew::DropOldPoints(double now_s) {
  while (count_ > 0 && At(0).time_s < now_s - kWindowS) --count_;
}

bool ClockSkew::Estimate() {
  if (count_ < 2) return false;
  const double span_s = At(count_ - 1).time_s - At(0).time_s;
  if (span_s < kShortestS || (span_s < kLongS && !RateFell())) return false;
  const double below = SlopeBelow();
  const double slope = std::abs(below) < kNegligible ? 0 : below;
  const double change = std::abs(slope - skew_);
  if (std::abs(slope) > max_skew_ || change < kSmallestChange) return false;
  if (change * span_s < kTimesDistance * LargestDistance(slope)) return false;
  skew_ = slope;
  return true;
}

bool ClockSkew::RateFell() const {
  DataRate highest = DataRate::Zero();
  for (size_t i = 0; i < count_; ++i) {
    if (At(i).rate < highest * kFallen) return true;
    highest = std::max(highest, At(i).rate);
  }
  return false;
}

double ClockSkew::SlopeBelow() const {
  double middle_s = 0;
  for (size_t i = 0; i < count_; ++i) middle_s += At(i).time_s / static_cast<double>(count_);
  double lowest_s = std::numeric_limits<double>::infinity(), slope = 0;
  for (size_t i = 0; i < count_ && At(i).time_s <= middle_s; ++i) {
    const Point& left = At(i);
    for (size_t j = count_ - 1; At(j).time_s > middle_s; --j) {
      const Point& right = At(j);
      const double between = (right.delay_s - left.delay_s) / (right.time_s - left.time_s);
      const double at_middle_s = left.delay_s + between * (middle_s - left.time_s);
      if (at_middle_s < lowest_s) {
        lowest_s = at_middle_s;
        slope = between;
      }
    }
  }
  return slope;
}

double ClockSkew::LargestDistance(double slope) const {
  std::array<double, kParts> distances_s{};
  distances_s.fill(std::numeric_limits<double>::infinity());
  const double first_s = At(0).time_s, span_s = At(count_ - 1).time_s - first_s;
  double line_s = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < count_; ++i) {
    const double level_s = At(i).delay_s - slope * At(i).time_s;
    const auto part = static_cast<size_t>((At(i).time_s - first_s) / span_s * static_cast<double>(kParts));
    double& lowest_s = distances_s[std::min(part, kParts - 1)];
    lowest_s = std::min(lowest_s, level_s);
    line_s = std::min(line_s, level_s);
  }
  return *std::max_element(distances_s.begin(), distances_s.end()) - line_s;
}

}  // namespace weir
