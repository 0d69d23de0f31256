#include "weir/arrival/clock_skew.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir {
namespace {

constexpr TimeDelta kBucket = TimeDelta::Seconds(1);
constexpr double kWindowS = 30;
// Queues and routes seldom grow as evenly as a clock drifts for so long.
constexpr double kShortestS = 20;
constexpr double kTimesDistance = 12;
// Oscillators of themselves are that far off; it is 0.45 ms in the window.
constexpr double kNegligible = 15e-6;
constexpr double kSmallestChange = 5e-6;

}  // namespace

bool ClockSkew::Update(Timestamp time, TimeDelta delay) {
  if (!start_.IsFinite()) {
    start_ = time;
    bucket_end_ = time + kBucket;
  }
  bool changed = false;
  if (time >= bucket_end_) {
    if (has_lowest_) {
      ring_[end_++ % kPoints] = lowest_;
      count_ = std::min(count_ + 1, kPoints);
      has_lowest_ = false;
    }
    bucket_end_ = time + kBucket;
    DropOldPoints((time - start_).seconds());
    changed = Estimate();
  }
  if (!has_lowest_ || delay.seconds() < lowest_.delay_s) lowest_ = {(time - start_).seconds(), delay.seconds()};
  has_lowest_ = true;
  return changed;
}

void ClockSkew::DropOldPoints(double now_s) {
  while (count_ > 0 && At(0).time_s < now_s - kWindowS) --count_;
}

bool ClockSkew::Estimate() {
  if (count_ < 2) return false;
  const double span_s = At(count_ - 1).time_s - At(0).time_s;
  if (span_s < kShortestS) return false;
  const double below = SlopeBelow();
  const double slope = std::abs(below) < kNegligible ? 0 : below;
  const double change = std::abs(slope - skew_);
  if (std::abs(slope) > kMax || change < kSmallestChange) return false;
  if (change * span_s < kTimesDistance * LargestDistance(slope)) return false;
  skew_ = slope;
  return true;
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
