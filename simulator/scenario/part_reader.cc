#include "scenario/part_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "registry.h"
#include "weir/pool_controller.h"

namespace weir::sim {
namespace {

using nlohmann::json;

int64_t SecondsToNs(double seconds) { return std::llround(seconds * 1e9); }
int64_t MillisecondsToNs(double milliseconds) { return std::llround(milliseconds * 1e6); }

std::string Element(const std::string& path, size_t index) { return path + "[" + std::to_string(index) + "]"; }

// Values that hold from given times on: `times_s`, an array of values under a key of its own, perhaps `period_s`.
struct ValuesOverTime {
  std::vector<int64_t> times_ns;
  std::vector<double> values;
  std::optional<int64_t> period_ns;
};

// Numbers of seconds that rise strictly, and as many values.
std::vector<int64_t> ReadTimes(JsonObject& object, const json& values, const std::string& path, std::string_view noun) {
  const std::string times_path = object.PathOf("times_s");
  const json& times = JsonArray(object.Require("times_s"), times_path, 1, SIZE_MAX);
  if (times.size() != values.size()) {
    RefuseJson(path, std::to_string(times.size()) + " times and " + std::to_string(values.size()) + " " +
                         std::string(noun) + "; give as many of each");
  }
  std::vector<int64_t> times_ns;
  for (size_t i = 0; i < times.size(); ++i) {
    times_ns.push_back(SecondsToNs(JsonNumber(times[i], Element(times_path, i), kTimeS)));
    if (i > 0 && times_ns[i] <= times_ns[i - 1]) {
      RefuseJson(Element(times_path, i), "must be later than the time before it, not " + ShownJson(times[i]));
    }
  }
  return times_ns;
}

ValuesOverTime ReadValuesOverTime(const json& value, const std::string& path, std::string_view values_key,
                                  std::string_view noun, const NumberRange& range) {
  JsonObject object(value, path);
  const std::string values_path = object.PathOf(values_key);
  const json& values = JsonArray(object.Require(values_key), values_path, 0, SIZE_MAX);
  ValuesOverTime read{.times_ns = ReadTimes(object, values, path, noun), .values = {}, .period_ns = {}};
  if (read.times_ns[0] != 0)
    RefuseJson(Element(object.PathOf("times_s"), 0), "must be 0; shift the trace so that it starts at 0");
  for (size_t i = 0; i < values.size(); ++i) {
    read.values.push_back(JsonNumber(values[i], Element(values_path, i), range));
  }
  if (const json& period = object.Require("period_s"); !period.is_null()) {
    read.period_ns = SecondsToNs(JsonNumber(period, object.PathOf("period_s"), kPositiveTimeS));
    if (*read.period_ns <= read.times_ns.back()) {
      RefuseJson(object.PathOf("period_s"), "must be later than the last time, not " + ShownJson(period));
    }
  }
  object.RefuseUnknownKeys();
  return read;
}

TcpCongestionControl ControlOf(const json& value, const std::string& path) {
  const auto found = std::ranges::find(kTcpCongestionControlNames, JsonString(value, path));
  if (found == kTcpCongestionControlNames.end()) {
    RefuseJson(path, ShownJson(value) + " is not allowed; use " + ListNames(kTcpCongestionControlNames, " or "));
  }
  return static_cast<TcpCongestionControl>(found - kTcpCongestionControlNames.begin());
}

// {"pilot": "bbr", "copilots": ["cubic"], "fusion": "max", "hand_back": true}
void ReadFusedControls(const json& value, const std::string& path, TcpSpec& tcp) {
  JsonObject object(value, path);
  tcp.congestion_control = ControlOf(object.Require("pilot"), object.PathOf("pilot"));
  const std::string copilots_path = object.PathOf("copilots");
  const json& copilots = JsonArray(object.Require("copilots"), copilots_path, 1, kMaxCopilots);
  for (size_t i = 0; i < copilots.size(); ++i) {
    const TcpCongestionControl copilot = ControlOf(copilots[i], Element(copilots_path, i));
    if (copilot == tcp.congestion_control || std::ranges::find(tcp.copilots, copilot) != tcp.copilots.end()) {
      RefuseJson(path, std::string(ToString(copilot)) + " is there twice");
    }
    tcp.copilots.push_back(copilot);
  }
  // "closest" and "user" need more than a name.
  constexpr std::array kFusions{FusionKind::kPilotOnly, FusionKind::kMax, FusionKind::kMin, FusionKind::kMedian,
                                FusionKind::kMean};
  std::vector<std::string_view> names;
  names.reserve(kFusions.size());
  for (const FusionKind kind : kFusions) names.push_back(ToString(kind));
  tcp.fusion = kFusions[object.Choice("fusion", names)];
  object.Require("hand_back");
  tcp.hands_back = object.Boolean("hand_back", true);
  object.RefuseUnknownKeys();
}

}  // namespace

size_t PartReader::OneOf(std::initializer_list<std::string_view> keys) {
  size_t found = 0, count = 0, index = 0;
  for (const std::string_view key : keys) {
    if (object_.Find(key)) {
      found = index;
      ++count;
    }
    ++index;
  }
  object_.RefuseUnknownKeys();
  if (count != 1) Refuse("give exactly one of " + ListNames(std::vector(keys), " and "));
  return found;
}

void PartReader::Number(std::string_view key, int64_t& to, const NumberRange& range) {
  to = std::llround(object_.Number(key, range));
}

void PartReader::Flag(std::string_view key, bool& to) {
  object_.Require(key);
  to = object_.Boolean(key, false);
}

void PartReader::Rate(std::string_view key, DataRate& to, const NumberRange& range) {
  const int64_t least = range.min_excluded ? 1 : 0;
  to = DataRate::BitsPerSecond(std::max<int64_t>(std::llround(object_.Number(key, range)), least));
}

void PartReader::Seconds(std::string_view key, int64_t& to_ns, const NumberRange& range) {
  to_ns = SecondsToNs(object_.Number(key, range));
}

void PartReader::Milliseconds(std::string_view key, int64_t& to_ns, const NumberRange& range) {
  to_ns = MillisecondsToNs(object_.Number(key, range));
}

void PartReader::Interval(std::string_view key, int64_t& low, int64_t& high, const NumberRange& range) {
  const std::string path = object_.PathOf(key);
  const json& bounds = JsonArray(object_.Require(key), path, 2, 2);
  low = JsonInteger(bounds[0], Element(path, 0), range);
  high = JsonInteger(bounds[1], Element(path, 1), range);
  if (low > high) {
    RefuseJson(path,
               "the smallest size (" + std::to_string(low) + ") exceeds the largest (" + std::to_string(high) + ")");
  }
}

void PartReader::Number(std::string_view key, std::string_view values_key, PiecewiseConstant<double>& to,
                        const NumberRange& range) {
  const json& value = object_.Require(key);
  const std::string path = object_.PathOf(key);
  if (!value.is_object()) {
    to = JsonNumber(value, path, range);
    return;
  }
  ValuesOverTime read = ReadValuesOverTime(value, path, values_key, values_key, range);
  to = {std::move(read.times_ns), std::move(read.values), read.period_ns};
}

void PartReader::Milliseconds(std::string_view key, PiecewiseConstant<int64_t>& to_ns, const NumberRange& range) {
  const json& value = object_.Require(key);
  const std::string path = object_.PathOf(key);
  if (!value.is_object()) {
    to_ns = MillisecondsToNs(JsonNumber(value, path, range));
    return;
  }
  ValuesOverTime read = ReadValuesOverTime(value, path, "values_ms", "values", range);
  std::vector<int64_t> values_ns;
  values_ns.reserve(read.values.size());
  for (const double value_ms : read.values) values_ns.push_back(MillisecondsToNs(value_ms));
  to_ns = {std::move(read.times_ns), std::move(values_ns), read.period_ns};
}

void PartReader::Capacity(std::string_view key, std::optional<CapacityTrace>& to) {
  ValuesOverTime read = ReadValuesOverTime(object_.Require(key), object_.PathOf(key), "rates_bps", "rates", kRateBps);
  std::vector<int64_t> rates_bps;
  rates_bps.reserve(read.values.size());
  for (const double rate : read.values) rates_bps.push_back(std::llround(rate));
  to.emplace(std::move(read.times_ns), std::move(rates_bps), read.period_ns);
}

void PartReader::Pauses(std::string_view key, sim::Pauses& to_ns) {
  const std::string path = object_.PathOf(key);
  const json& pauses = JsonArray(object_.Require(key), path, 0, kMaxPauses);
  for (size_t i = 0; i < pauses.size(); ++i) {
    const std::string pause_path = Element(path, i);
    const json& pause = JsonArray(pauses[i], pause_path, 2, 2);
    const int64_t from_ns = SecondsToNs(JsonNumber(pause[0], Element(pause_path, 0), kTimeS));
    const int64_t to = SecondsToNs(JsonNumber(pause[1], Element(pause_path, 1), kTimeS));
    if (from_ns >= to || (!to_ns.empty() && from_ns < to_ns.back().second)) {
      RefuseJson(pause_path, "must end after its start and follow the one before");
    }
    to_ns.emplace_back(from_ns, to);
  }
}

void PartReader::ClockSteps(std::string_view key, PiecewiseConstant<int64_t>& set_ns) {
  const std::string path = object_.PathOf(key);
  JsonObject object(object_.Require(key), path);
  const std::string steps_path = object.PathOf("steps_ms");
  const json& steps = JsonArray(object.Require("steps_ms"), steps_path, 0, SIZE_MAX);
  std::vector<int64_t> times_ns = ReadTimes(object, steps, path, "steps");
  object.RefuseUnknownKeys();
  constexpr NumberRange kStepMs{.min = -1e6, .max = 1e6};
  std::vector<int64_t> sums_ns;
  int64_t sum_ns = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    sum_ns += MillisecondsToNs(JsonNumber(steps[i], Element(steps_path, i), kStepMs));
    sums_ns.push_back(sum_ns);
  }
  if (times_ns[0] > 0) {
    times_ns.insert(times_ns.begin(), 0);
    sums_ns.insert(sums_ns.begin(), 0);
  }
  set_ns = {std::move(times_ns), std::move(sums_ns), std::nullopt};
}

void PartReader::Controller(std::string_view key, std::string& to) {
  const json& value = object_.Require(key);
  if (value.is_string() && IsPoolLine(value.get_ref<const std::string&>())) {
    to = value.get<std::string>();
    if (const auto pool = ParsePool(to); !pool) RefuseJson(object_.PathOf(key), pool.error());
    return;
  }
  std::vector<std::string_view> names{"under_test"};
  names.insert(names.end(), kSimulatedControllers.begin(), kSimulatedControllers.end());
  to = names[object_.Choice(key, names)];
}

void PartReader::Weights(std::string_view key, Objective& to) {
  to = ParseObjective(object_.Require(key), object_.PathOf(key), WeightSum::kOne);
}

void PartReader::CongestionControl(std::string_view key, TcpSpec& to) {
  const json& value = object_.Require(key);
  const std::string path = object_.PathOf(key);
  if (value.is_object()) return ReadFusedControls(value, path, to);
  to.congestion_control = ControlOf(value, path);
}

void PartReader::AtLeast(std::string_view key, DataRate rate, std::string_view bound_key, DataRate bound) const {
  if (rate >= bound) return;
  RefuseJson(object_.PathOf(key), "must be at least " + std::string(bound_key) + " (" + std::to_string(bound.bps()) +
                                      "), not " + std::to_string(rate.bps()));
}

}  // namespace weir::sim
