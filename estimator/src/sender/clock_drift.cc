#include "sender/clock_drift.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "arrival/send_clock.h"

namespace weir {
namespace {

constexpr TimeDelta kSecond = TimeDelta::Seconds(1);
// Routes may differ before and after a longer time without feedback.
constexpr TimeDelta kLongestGap = TimeDelta::Seconds(3);
constexpr size_t kFewestPoints = 5;
// Smallest gain over the time of the points; and largest distance of an offset from the line, and largest gain of the
// round trip, as shares of that gain.
constexpr double kSmallestGainS = 5e-3;
constexpr double kLargestDistance = 0.15;
constexpr double kRoundTripShare = 0.25;

// A least-squares line through values over time.
struct Line {
  double slope = 0;
  double largest_distance = 0;
};

template <typename Point>
Line Fit(std::span<const Point> points, double Point::* value) {
  const auto count = static_cast<double>(points.size());
  double mean_time = 0, mean = 0, covariance = 0, variance = 0;
  for (const Point& point : points) {
    mean_time += point.time_s / count;
    mean += point.*value / count;
  }
  for (const Point& point : points) {
    covariance += (point.time_s - mean_time) * (point.*value - mean);
    variance += (point.time_s - mean_time) * (point.time_s - mean_time);
  }
  Line line{variance > 0 ? covariance / variance : 0};
  for (const Point& point : points) {
    const double distance = point.*value - mean - line.slope * (point.time_s - mean_time);
    line.largest_distance = std::max(line.largest_distance, std::abs(distance));
  }
  return line;
}

}  // namespace

TimeDelta ClockDrift::Update(Timestamp now, TimeDelta round_trip, TimeDelta one_way_delay) {
  double gained_s = latest_.IsFinite() ? drift_ * (now - latest_).seconds() : 0;
  if (!latest_.IsFinite() || now - latest_ > kLongestGap) {
    count_ = 0;
    BeginSecond(now);
  }
  latest_ = now;
  if (now >= second_ends_) {
    if (count_ == kPoints) {
      std::shift_left(points_.begin(), points_.end(), 1);
      --count_;
    }
    points_[count_++] = shortest_;
    gained_s += Estimate();
    BeginSecond(now);
  }
  if (round_trip.seconds() < shortest_.round_trip_s)
    shortest_ = {now.seconds(), round_trip.seconds(), one_way_delay.seconds() - gained_s - round_trip.seconds() / 2};
  return TimeDelta::SecondsF(gained_s);
}

void ClockDrift::BeginSecond(Timestamp now) {
  second_ends_ = now + kSecond;
  shortest_.round_trip_s = std::numeric_limits<double>::infinity();
}

double ClockDrift::Estimate() {
  if (count_ < kFewestPoints) return 0;
  const std::span<const Point> points(points_.data(), count_);
  const Line offset = Fit(points, &Point::offset_s), round_trip = Fit(points, &Point::round_trip_s);
  const double span_s = points.back().time_s - points.front().time_s, gain_s = std::abs(offset.slope) * span_s;
  if (gain_s < kSmallestGainS || offset.largest_distance > kLargestDistance * gain_s ||
      std::abs(round_trip.slope) > kRoundTripShare * std::abs(offset.slope) || drift_ + offset.slope < 0 ||
      drift_ + offset.slope > ClockSkew::kMax)
    return 0;
  drift_ += offset.slope;
  count_ = 0;
  return std::max(offset.slope, 0.0) * span_s;
}

}  // namespace weir
