// The links of a scenario file: capacity, queue, loss, jitter.
#include <algorithm>
#include <cmath>

#include "scenario/scenario_parts.h"

namespace weir::sim {
namespace {

constexpr NumberRange kRatio{.min = 0, .max = 1};
constexpr NumberRange kIntervalMs{.min = 0.1, .max = 10'000};
constexpr NumberRange kRate{.min = 0, .max = static_cast<double>(CapacityTrace::kMaxRateBps)};

// Values that hold from given times on: `times_s`, an array of values under a name of its own, perhaps `period_s`.
struct ValuesOverTime {
  std::vector<int64_t> times_ns;
  std::vector<double> values;
  std::optional<int64_t> period_ns;
};

ValuesOverTime ParseValuesOverTime(const nlohmann::json& value, const std::string& path, const char* values_name,
                                   const char* noun, const NumberRange& range) {
  JsonObject object(value, path);
  const std::string times_path = object.PathOf("times_s");
  const std::string values_path = object.PathOf(values_name);
  const nlohmann::json& times = JsonArray(object.Require("times_s"), times_path, 1, SIZE_MAX);
  const nlohmann::json& values = JsonArray(object.Require(values_name), values_path, 1, SIZE_MAX);
  if (times.size() != values.size()) {
    RefuseJson(path, std::to_string(times.size()) + " times and " + std::to_string(values.size()) + " " + noun +
                         "; give as many of each");
  }
  ValuesOverTime parsed;
  for (size_t i = 0; i < times.size(); ++i) {
    parsed.times_ns.push_back(SecondsToNs(JsonNumber(times[i], Element(times_path, i), kTime)));
    if (i == 0 && parsed.times_ns[0] != 0)
      RefuseJson(Element(times_path, 0), "must be 0; shift the trace so that it starts at 0");
    if (i > 0 && parsed.times_ns[i] <= parsed.times_ns[i - 1]) {
      RefuseJson(Element(times_path, i), "must be later than the time before it, not " + ShownJson(times[i]));
    }
    parsed.values.push_back(JsonNumber(values[i], Element(values_path, i), range));
  }
  if (const nlohmann::json* period = object.FindOptional("period_s")) {
    parsed.period_ns = SecondsToNs(JsonNumber(*period, object.PathOf("period_s"), kPositiveTime));
    if (*parsed.period_ns <= parsed.times_ns.back()) {
      RefuseJson(object.PathOf("period_s"), "must be later than the last time, not " + ShownJson(*period));
    }
  }
  object.RefuseUnknownKeys();
  return parsed;
}

std::optional<CapacityTrace> ParseCapacity(const nlohmann::json& value, const std::string& path) {
  if (value.is_null()) return std::nullopt;
  ValuesOverTime parsed = ParseValuesOverTime(value, path, "rates_bps", "rates", kRate);
  std::vector<int64_t> rates_bps;
  rates_bps.reserve(parsed.values.size());
  for (const double rate : parsed.values) rates_bps.push_back(std::llround(rate));
  return CapacityTrace(std::move(parsed.times_ns), std::move(rates_bps), parsed.period_ns);
}

PiecewiseConstant<int64_t> ParseOneWayDelay(const nlohmann::json& value, const std::string& path) {
  if (!value.is_object()) return MillisecondsToNs(JsonNumber(value, path, kDelayMs));
  ValuesOverTime parsed = ParseValuesOverTime(value, path, "values_ms", "values", kDelayMs);
  std::vector<int64_t> delays_ns;
  delays_ns.reserve(parsed.values.size());
  for (const double delay_ms : parsed.values) delays_ns.push_back(MillisecondsToNs(delay_ms));
  return {std::move(parsed.times_ns), std::move(delays_ns), parsed.period_ns};
}

PiecewiseConstant<double> ParseRatio(const nlohmann::json& value, const std::string& path) {
  if (!value.is_object()) return JsonNumber(value, path, kRatio);
  ValuesOverTime parsed = ParseValuesOverTime(value, path, "ratios", "ratios", kRatio);
  return {std::move(parsed.times_ns), std::move(parsed.values), parsed.period_ns};
}

QueueSpec ParseQueue(const nlohmann::json& value, const std::string& path) {
  JsonObject object(value, path);
  constexpr NumberRange kPositive{.min = 0, .min_excluded = true};
  constexpr NumberRange kAtLeastOne{.min = 1};
  const bool milliseconds = object.Find("milliseconds") != nullptr;
  const bool bytes = object.Find("bytes") != nullptr;
  const bool packets = object.Find("packets") != nullptr;
  object.RefuseUnknownKeys();
  if (milliseconds + bytes + packets != 1) {
    RefuseJson(path, R"(give exactly one of "milliseconds", "bytes" and "packets")");
  }
  if (milliseconds) return {QueueSpec::Unit::kMilliseconds, object.Number("milliseconds", kPositive)};
  if (bytes) return {QueueSpec::Unit::kBytes, static_cast<double>(object.Integer("bytes", kAtLeastOne))};
  return {QueueSpec::Unit::kPackets, static_cast<double>(object.Integer("packets", kAtLeastOne))};
}

LossSpec ParseLoss(const nlohmann::json& value, const std::string& path) {
  JsonObject object(value, path);
  LossSpec loss;
  switch (object.Choice("kind", {"none", "bernoulli", "gilbert_elliott", "policer"})) {
    case 0:
      break;
    case 1:
      loss.kind = LossSpec::Kind::kBernoulli;
      loss.ratio = ParseRatio(object.Require("ratio"), object.PathOf("ratio"));
      break;
    case 2:
      loss.kind = LossSpec::Kind::kGilbertElliott;
      loss.good_to_bad = object.Number("good_to_bad", kRatio);
      loss.bad_to_good = object.Number("bad_to_good", kRatio);
      loss.loss_good = object.Number("loss_good", kRatio);
      loss.loss_bad = object.Number("loss_bad", kRatio);
      break;
    default:
      loss.kind = LossSpec::Kind::kPolicer;
      loss.rate_bps = std::llround(object.Number("rate_bps", {.min = 1, .max = kRate.max}));
      loss.burst_bytes = object.Integer("burst_bytes", {.min = kMaxPacketBytes, .max = 1e9});
  }
  object.RefuseUnknownKeys();
  return loss;
}

JitterSpec ParseJitter(const nlohmann::json& value, const std::string& path) {
  JsonObject object(value, path);
  JitterSpec jitter;
  switch (object.Choice("kind", {"none", "truncated_gaussian", "uniform", "slotted", "spikes"})) {
    case 0:
      break;
    case 1:
      jitter.kind = JitterSpec::Kind::kTruncatedGaussian;
      jitter.standard_deviation_ns = MillisecondsToNs(object.Number("standard_deviation_ms", kDelayMs));
      jitter.maximum_ns = MillisecondsToNs(object.Number("maximum_ms", kDelayMs));
      jitter.reorder = object.Boolean("reorder", false);
      break;
    case 2:
      jitter.kind = JitterSpec::Kind::kUniform;
      jitter.maximum_ns = MillisecondsToNs(object.Number("maximum_ms", kDelayMs));
      if (const nlohmann::json* interval = object.FindOptional("interval_ms")) {
        jitter.interval_ns = MillisecondsToNs(JsonNumber(*interval, object.PathOf("interval_ms"), kIntervalMs));
      }
      break;
    case 3:
      jitter.kind = JitterSpec::Kind::kSlotted;
      jitter.interval_ns = MillisecondsToNs(object.Number("interval_ms", kIntervalMs));
      break;
    default:
      jitter.kind = JitterSpec::Kind::kSpikes;
      jitter.gap_mean_s = object.Number("gap_mean_s", {.min = 0.1, .max = kDuration.max});
      jitter.shortest_ns = MillisecondsToNs(object.Number("shortest_ms", kDelayMs));
      jitter.longest_ns = MillisecondsToNs(object.Number("longest_ms", kDelayMs));
      if (jitter.longest_ns < jitter.shortest_ns) RefuseJson(path, "longest_ms must be at least shortest_ms");
  }
  object.RefuseUnknownKeys();
  return jitter;
}

}  // namespace

LinkSpec ParseLink(const nlohmann::json& value, const std::string& path, const LinkDefaults& defaults) {
  JsonObject object(value, path);
  LinkSpec link;
  if (defaults.capacity_required) {
    link.capacity = ParseCapacity(object.Require("capacity"), object.PathOf("capacity"));
  } else if (const nlohmann::json* capacity = object.Find("capacity")) {
    link.capacity = ParseCapacity(*capacity, object.PathOf("capacity"));
  }
  link.one_way_delay_ns = defaults.one_way_delay_ns;
  if (const nlohmann::json* delay = object.Find("one_way_delay_ms")) {
    link.one_way_delay_ns = ParseOneWayDelay(*delay, object.PathOf("one_way_delay_ms"));
  }
  if (const nlohmann::json* queue = object.Find("queue")) link.queue = ParseQueue(*queue, object.PathOf("queue"));
  link.queue_discipline = object.Choice("queue_discipline", {"drop_tail", "codel"}, 0) == 0 ? QueueDiscipline::kDropTail
                                                                                            : QueueDiscipline::kCodel;
  if (const nlohmann::json* loss = object.Find("loss")) link.loss = ParseLoss(*loss, object.PathOf("loss"));
  if (const nlohmann::json* jitter = object.Find("jitter")) link.jitter = ParseJitter(*jitter, object.PathOf("jitter"));
  object.RefuseUnknownKeys();
  return link;
}

int64_t QueueLimit(const LinkSpec& link, int64_t duration_ns) {
  // Beyond any queue that could fill, and exact in both types.
  constexpr double kLargest = 1e15;
  switch (link.queue.unit) {
    case QueueSpec::Unit::kPackets:
      return std::max<int64_t>(static_cast<int64_t>(std::min(link.queue.amount, kLargest)), 1);
    case QueueSpec::Unit::kBytes:
      return std::max(static_cast<int64_t>(std::min(link.queue.amount, kLargest)), kMaxPacketBytes);
    case QueueSpec::Unit::kMilliseconds:
      break;
  }
  const double bytes = link.capacity->MeanRateBps(duration_ns) * link.queue.amount / 8000.0;
  return std::max(static_cast<int64_t>(std::min(bytes, kLargest)), kMaxPacketBytes);
}

}  // namespace weir::sim
