#include "sender/clock_drift.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "arrival/send_clock.h"

namespace weir {
namespace {

// Length of the parts of which the shortest round trip counts.
constexpr TimeDelta kSecond = TimeDelta::Seconds(1);
// After a longer time without feedback the route may be another.
constexpr TimeDelta kMaxGap = TimeDelta::Seconds(3);
// Two points are always on a line, and three or four too easily.
constexpr size_t kMinSamples = 5;
// A smaller change of the offset from the first to the last sample may be jitter.
constexpr double kMinChangeS = 5e-3;
// Largest distance of an offset from the line, relative to that change. A step of the clock, or of the route, is
// further from every line.
constexpr double kMaxDistance = 0.15;
// Largest slope of the round trips, relative to that of the offsets. It is 2 for a queue or a longer route.
constexpr double kMaxRoundTripSlope = 0.25;

double Mean(std::span<const double> values) {
  double mean = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  return mean;
}

// The line through values over time with the least sum of squared distances.
struct Line {
  double slope = 0;
  // Largest distance of a value from the line.
  double max_distance = 0;
};

Line FitLine(std::span<const double> times, std::span<const double> values) {
  const double mean_time = Mean(times), mean_value = Mean(values);
  double covariance = 0, variance = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    covariance += (times[i] - mean_time) * (values[i] - mean_value);
    variance += (times[i] - mean_time) * (times[i] - mean_time);
  }
  Line line{.slope = variance > 0 ? covariance / variance : 0};
  for (size_t i = 0; i < times.size(); ++i) {
    const double distance = values[i] - mean_value - line.slope * (times[i] - mean_time);
    line.max_distance = std::max(line.max_distance, std::abs(distance));
  }
  return line;
}

}  // namespace

TimeDelta ClockDrift::Update(Timestamp now, TimeDelta round_trip, TimeDelta one_way_delay) {
  const bool is_first = !latest_update_.IsFinite();
  // The clock gained this much since the last call.
  double gain_s = is_first ? 0 : drift_ * (now - latest_update_).seconds();
  if (is_first || now - latest_update_ > kMaxGap) {
    count_ = 0;
    BeginSecond(now);
  }
  latest_update_ = now;

  if (now >= second_ends_) {
    EndSecond();
    if (const std::optional<double> drift = FindDrift()) {
      drift_ += *drift;
      // A clock that gains less than was thought has been corrected too much; the base delay follows that at once.
      gain_s += std::max(*drift, 0.0) * (samples().back().time_s - samples().front().time_s);
      count_ = 0;
    }
    BeginSecond(now);
  }

  if (round_trip.seconds() < best_.round_trip_s) {
    best_ = {.time_s = now.seconds(),
             .round_trip_s = round_trip.seconds(),
             .offset_s = one_way_delay.seconds() - gain_s - round_trip.seconds() / 2};
  }
  return TimeDelta::SecondsF(gain_s);
}

void ClockDrift::BeginSecond(Timestamp now) {
  second_ends_ = now + kSecond;
  best_.round_trip_s = std::numeric_limits<double>::infinity();
}

void ClockDrift::EndSecond() {
  if (count_ == kSamples) {
    std::shift_left(samples_.begin(), samples_.end(), 1);
    --count_;
  }
  samples_[count_++] = best_;
}

std::optional<double> ClockDrift::FindDrift() const {
  if (count_ < kMinSamples) return std::nullopt;
  std::array<double, kSamples> times{}, offsets{}, round_trips{};
  for (size_t i = 0; i < count_; ++i) {
    times[i] = samples_[i].time_s;
    offsets[i] = samples_[i].offset_s;
    round_trips[i] = samples_[i].round_trip_s;
  }
  const auto fit = [&](const std::array<double, kSamples>& values) {
    return FitLine(std::span(times).first(count_), std::span(values).first(count_));
  };
  const Line offset = fit(offsets);
  const Line round_trip = fit(round_trips);

  const double change_s = std::abs(offset.slope) * (times[count_ - 1] - times[0]);
  const bool is_even = change_s >= kMinChangeS && offset.max_distance <= kMaxDistance * change_s;
  const bool is_path = std::abs(round_trip.slope) > kMaxRoundTripSlope * std::abs(offset.slope);
  // A clock gains at most as much as ClockSkew assumes.
  const double drift = drift_ + offset.slope;
  if (!is_even || is_path || drift < 0 || drift > ClockSkew::kMax) return std::nullopt;
  return offset.slope;
}

}  // namespace weir
