#include "scenario/part_reader.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace weir::sim {
namespace {

using nlohmann::json;

constexpr NumberRange kRateBps{.min = 0, .max = kMaxRateBps};
SimDuration FromSeconds(double seconds) { return SimDuration::Nanos(std::llround(seconds * 1e9)); }
SimDuration FromMilliseconds(double ms) { return SimDuration::Nanos(std::llround(ms * 1e6)); }

std::vector<double> Numbers(const json& values, const std::string& path, const NumberRange& range) {
  std::vector<double> numbers;
  numbers.reserve(values.size());
  for (const json& value : values) numbers.push_back(JsonNumber(value, path, range));
  return numbers;
}

std::vector<int64_t> Rounded(const std::vector<double>& numbers) {
  std::vector<int64_t> rounded;
  rounded.reserve(numbers.size());
  for (const double number : numbers) rounded.push_back(std::llround(number));
  return rounded;
}

std::vector<SimDuration> Durations(const std::vector<double>& numbers_ms) {
  std::vector<SimDuration> durations;
  durations.reserve(numbers_ms.size());
  for (const double ms : numbers_ms) durations.push_back(FromMilliseconds(ms));
  return durations;
}

std::vector<SimTime> RisingTimes(const json& times_s, const std::string& path) {
  std::vector<SimTime> times;
  times.reserve(times_s.size());
  for (const double seconds : Numbers(times_s, path, PartReader::kTime))
    times.push_back(kTimeZero + FromSeconds(seconds));
  if (std::ranges::adjacent_find(times, std::greater_equal()) != times.end())
    RefuseJson(path, "each time must be later than the one before it");
  return times;
}

// Values that hold from given times on: `times_s`, as many values under another key, and optionally `period_s`.
struct Series {
  std::vector<SimTime> times;
  std::vector<double> values;
  std::optional<SimDuration> period;
};

Series ReadSteps(JsonObject& object, std::string_view values_key, const NumberRange& range) {
  const std::string times_path = object.PathOf("times_s"), values_path = object.PathOf(values_key);
  const json& times = JsonArray(object.Require("times_s"), times_path, 1, SIZE_MAX);
  // Requires as many values as times.
  const json& values = JsonArray(object.Require(values_key), values_path, times.size(), times.size());
  return {RisingTimes(times, times_path), Numbers(values, values_path, range), std::nullopt};
}

// A single number holds at all times.
Series ReadSeries(const json& value, const std::string& path, std::string_view values_key, const NumberRange& range) {
  if (!value.is_object()) return {{kTimeZero}, {JsonNumber(value, path, range)}, std::nullopt};
  JsonObject object(value, path);
  Series series = ReadSteps(object, values_key, range);
  if (series.times[0] != kTimeZero) RefuseJson(object.PathOf("times_s"), "the first time must be 0");
  if (const json& period = object.Require("period_s"); !period.is_null()) {
    const std::string period_path = object.PathOf("period_s");
    series.period = FromSeconds(JsonNumber(period, period_path, PartReader::kTime));
    if (kTimeZero + *series.period <= series.times.back()) RefuseJson(period_path, "must be later than the last time");
  }
  return series;
}

}  // namespace

void PartReader::Flag(std::string_view key, bool& to) {
  Require(key);
  to = Boolean(key, false);
}

void PartReader::Rate(std::string_view key, int64_t& to_bps) {
  to_bps = std::llround(JsonObject::Number(key, kRateBps));
}

void PartReader::Rate(std::string_view key, DataRate& to, int64_t least_bps) {
  int64_t bps = 0;
  Rate(key, bps);
  to = DataRate::BitsPerSecond(std::max(bps, least_bps));
}

void PartReader::Seconds(std::string_view key, SimDuration& to) { to = FromSeconds(JsonObject::Number(key, kTime)); }

void PartReader::Time(std::string_view key, SimTime& to) {
  to = kTimeZero + FromSeconds(JsonObject::Number(key, kTime));
}

void PartReader::Milliseconds(std::string_view key, SimDuration& to, const NumberRange& range) {
  to = FromMilliseconds(JsonObject::Number(key, range));
}

void PartReader::Interval(std::string_view key, int64_t& low, int64_t& high, const NumberRange& range) {
  const std::vector<int64_t> ends = Rounded(Numbers(Array(key, 2, 2), PathOf(key), range));
  if (ends[0] > ends[1]) Refuse(key, "the first must not be above the second");
  low = ends[0];
  high = ends[1];
}

void PartReader::OverTime(std::string_view key, std::string_view values_key, PiecewiseConstant<double>& to) {
  Series read = ReadSeries(Require(key), PathOf(key), values_key, kNotNegative);
  to = {std::move(read.times), std::move(read.values), read.period};
}

void PartReader::DelayOverTime(std::string_view key, PiecewiseConstant<SimDuration>& to) {
  Series read = ReadSeries(Require(key), PathOf(key), "values_ms", kTime);
  to = {std::move(read.times), Durations(read.values), read.period};
}

void PartReader::Capacity(std::string_view key, std::optional<CapacityTrace>& to) {
  Series read = ReadSeries(Require(key), PathOf(key), "rates_bps", kRateBps);
  to.emplace(std::move(read.times), Rounded(read.values), read.period);
}

void PartReader::Pauses(std::string_view key, sim::Pauses& to) {
  const std::string path = PathOf(key);
  for (const json& pause : Array(key, 0, kMaxPauses)) {
    const std::vector<SimTime> times = RisingTimes(JsonArray(pause, path, 2, 2), path);
    if (!to.empty() && times[0] < to.back().second) RefuseJson(path, "each must follow the one before it");
    to.emplace_back(times[0], times[1]);
  }
}

void PartReader::ClockSteps(std::string_view key, PiecewiseConstant<SimDuration>& set) {
  JsonObject object(Require(key), PathOf(key));
  Series read = ReadSteps(object, "steps_ms", {.min = -1e6, .max = 1e6});
  std::vector<SimDuration> sums = Durations(read.values);
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  if (read.times[0] > kTimeZero) {
    read.times.insert(read.times.begin(), kTimeZero);
    sums.insert(sums.begin(), SimDuration::Zero());
  }
  set = {std::move(read.times), std::move(sums), std::nullopt};
}

}  // namespace weir::sim
