// The links of a scenario file: capacity, queue, loss, jitter.
#include <algorithm>
#include <cmath>

#include "scenario_parts.h"

namespace weir::sim {
namespace {

constexpr NumberRange kRatio{.min = 0, .max = 1};
constexpr NumberRange kRate{.min = 0, .max = static_cast<double>(CapacityTrace::kMaxRateBps)};

std::string Element(const std::string& path, size_t index) { return path + "[" + std::to_string(index) + "]"; }

std::optional<CapacityTrace> ParseCapacity(const nlohmann::json& value, const std::string& path) {
  if (value.is_null()) return std::nullopt;
  JsonObject object(value, path);
  const std::string times_path = object.PathOf("times_s");
  const std::string rates_path = object.PathOf("rates_bps");
  const nlohmann::json& times = JsonArray(object.Require("times_s"), times_path, 1, SIZE_MAX);
  const nlohmann::json& rates = JsonArray(object.Require("rates_bps"), rates_path, 1, SIZE_MAX);
  if (times.size() != rates.size()) {
    RefuseJson(path, std::to_string(times.size()) + " times and " + std::to_string(rates.size()) +
                         " rates; give as many of each");
  }
  std::vector<int64_t> times_ns;
  std::vector<int64_t> rates_bps;
  for (size_t i = 0; i < times.size(); ++i) {
    times_ns.push_back(SecondsToNs(JsonNumber(times[i], Element(times_path, i), kTime)));
    if (i == 0 && times_ns[0] != 0)
      RefuseJson(Element(times_path, 0), "must be 0; shift the trace so that it starts at 0");
    if (i > 0 && times_ns[i] <= times_ns[i - 1]) {
      RefuseJson(Element(times_path, i), "must be later than the time before it, not " + ShownJson(times[i]));
    }
    rates_bps.push_back(std::llround(JsonNumber(rates[i], Element(rates_path, i), kRate)));
  }
  std::optional<int64_t> period_ns;
  if (const nlohmann::json* period = object.FindOptional("period_s")) {
    period_ns = SecondsToNs(JsonNumber(*period, object.PathOf("period_s"), kPositiveTime));
    if (*period_ns <= times_ns.back()) {
      RefuseJson(object.PathOf("period_s"), "must be later than the last time, not " + ShownJson(*period));
    }
  }
  object.RefuseUnknownKeys();
  return CapacityTrace(std::move(times_ns), std::move(rates_bps), period_ns);
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
  switch (object.Choice("kind", {"none", "bernoulli", "gilbert_elliott"})) {
    case 0:
      break;
    case 1:
      loss.kind = LossSpec::Kind::kBernoulli;
      loss.ratio = object.Number("ratio", kRatio);
      break;
    default:
      loss.kind = LossSpec::Kind::kGilbertElliott;
      loss.good_to_bad = object.Number("good_to_bad", kRatio);
      loss.bad_to_good = object.Number("bad_to_good", kRatio);
      loss.loss_good = object.Number("loss_good", kRatio);
      loss.loss_bad = object.Number("loss_bad", kRatio);
  }
  object.RefuseUnknownKeys();
  return loss;
}

JitterSpec ParseJitter(const nlohmann::json& value, const std::string& path) {
  JsonObject object(value, path);
  JitterSpec jitter;
  if (object.Choice("kind", {"none", "truncated_gaussian"}) == 1) {
    jitter.kind = JitterSpec::Kind::kTruncatedGaussian;
    jitter.standard_deviation_ns = MillisecondsToNs(object.Number("standard_deviation_ms", kDelayMs));
    jitter.maximum_ns = MillisecondsToNs(object.Number("maximum_ms", kDelayMs));
    jitter.reorder = object.Boolean("reorder", false);
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
    link.one_way_delay_ns = MillisecondsToNs(JsonNumber(*delay, object.PathOf("one_way_delay_ms"), kDelayMs));
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
