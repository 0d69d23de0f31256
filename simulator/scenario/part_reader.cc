#include "scenario/part_reader.h"

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace weir::sim {
namespace {

using nlohmann::json;

constexpr NumberRange kRateBps{.min = 0, .max = kMaxRateBps};
constexpr double kNsPerSecond = 1e9;
constexpr double kNsPerMillisecond = 1e6;

std::vector<double> Numbers(const json& values, const std::string& path, const NumberRange& range) {
  std::vector<double> numbers;
  numbers.reserve(values.size());
  for (const json& value : values) numbers.push_back(JsonNumber(value, path, range));
  return numbers;
}

std::vector<int64_t> Rounded(const std::vector<double>& numbers, double scale = 1) {
  std::vector<int64_t> rounded;
  rounded.reserve(numbers.size());
  for (const double number : numbers) rounded.push_back(std::llround(number * scale));
  return rounded;
}

std::vector<int64_t> RisingTimesNs(const json& times_s, const std::string& path) {
  std::vector<int64_t> times_ns = Rounded(Numbers(times_s, path, PartReader::kTime), kNsPerSecond);
  if (std::ranges::adjacent_find(times_ns, std::greater_equal()) != times_ns.end())
    RefuseJson(path, "each time must be later than the one before it");
  return times_ns;
}

// Values that hold from given times on: `times_s`, as many values under another key, and optionally `period_s`.
struct Series {
  std::vector<int64_t> times_ns;
  std::vector<double> values;
  std::optional<int64_t> period_ns;
};

Series ReadSteps(JsonObject& object, std::string_view values_key, const NumberRange& range) {
  const std::string times_path = object.PathOf("times_s"), values_path = object.PathOf(values_key);
  const json& times = JsonArray(object.Require("times_s"), times_path, 1, SIZE_MAX);
  // Requires as many values as times.
  const json& values = JsonArray(object.Require(values_key), values_path, times.size(), times.size());
  return {RisingTimesNs(times, times_path), Numbers(values, values_path, range), std::nullopt};
}

// A single number holds at all times.
Series ReadSeries(const json& value, const std::string& path, std::string_view values_key, const NumberRange& range) {
  if (!value.is_object()) return {{0}, {JsonNumber(value, path, range)}, std::nullopt};
  JsonObject object(value, path);
  Series series = ReadSteps(object, values_key, range);
  if (series.times_ns[0] != 0) RefuseJson(object.PathOf("times_s"), "the first time must be 0");
  if (const json& period = object.Require("period_s"); !period.is_null()) {
    const std::string period_path = object.PathOf("period_s");
    series.period_ns = std::llround(JsonNumber(period, period_path, PartReader::kTime) * kNsPerSecond);
    if (*series.period_ns <= series.times_ns.back()) RefuseJson(period_path, "must be later than the last time");
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

void PartReader::Seconds(std::string_view key, int64_t& to_ns) {
  to_ns = std::llround(JsonObject::Number(key, kTime) * kNsPerSecond);
}

void PartReader::Milliseconds(std::string_view key, int64_t& to_ns, const NumberRange& range) {
  to_ns = std::llround(JsonObject::Number(key, range) * kNsPerMillisecond);
}

void PartReader::Interval(std::string_view key, int64_t& low, int64_t& high, const NumberRange& range) {
  const std::vector<int64_t> ends = Rounded(Numbers(Array(key, 2, 2), PathOf(key), range));
  if (ends[0] > ends[1]) Refuse(key, "the first must not be above the second");
  low = ends[0];
  high = ends[1];
}

void PartReader::OverTime(std::string_view key, std::string_view values_key, PiecewiseConstant<double>& to) {
  Series read = ReadSeries(Require(key), PathOf(key), values_key, kNotNegative);
  to = {std::move(read.times_ns), std::move(read.values), read.period_ns};
}

void PartReader::DelayOverTime(std::string_view key, PiecewiseConstant<int64_t>& to_ns) {
  Series read = ReadSeries(Require(key), PathOf(key), "values_ms", kTime);
  to_ns = {std::move(read.times_ns), Rounded(read.values, kNsPerMillisecond), read.period_ns};
}

void PartReader::Capacity(std::string_view key, std::optional<CapacityTrace>& to) {
  Series read = ReadSeries(Require(key), PathOf(key), "rates_bps", kRateBps);
  to.emplace(std::move(read.times_ns), Rounded(read.values), read.period_ns);
}

void PartReader::Pauses(std::string_view key, sim::Pauses& to_ns) {
  const std::string path = PathOf(key);
  for (const json& pause : Array(key, 0, kMaxPauses)) {
    const std::vector<int64_t> times_ns = RisingTimesNs(JsonArray(pause, path, 2, 2), path);
    if (!to_ns.empty() && times_ns[0] < to_ns.back().second) RefuseJson(path, "each must follow the one before it");
    to_ns.emplace_back(times_ns[0], times_ns[1]);
  }
}

void PartReader::ClockSteps(std::string_view key, PiecewiseConstant<int64_t>& set_ns) {
  JsonObject object(Require(key), PathOf(key));
  Series read = ReadSteps(object, "steps_ms", {.min = -1e6, .max = 1e6});
  std::vector<int64_t> sums_ns = Rounded(read.values, kNsPerMillisecond);
  std::partial_sum(sums_ns.begin(), sums_ns.end(), sums_ns.begin());
  if (read.times_ns[0] > 0) {
    read.times_ns.insert(read.times_ns.begin(), 0);
    sums_ns.insert(sums_ns.begin(), 0);
  }
  set_ns = {std::move(read.times_ns), std::move(sums_ns), std::nullopt};
}

}  // namespace weir::sim
