#include "scenario/scenario.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "scenario/part_reader.h"

namespace weir::sim {
namespace {

// A flow of the kind that stands at `index` in kFlowKindNames.
template <size_t i = 0>
FlowKind MakeKind(size_t index) {
  if constexpr (i + 1 < std::variant_size_v<FlowKind>) {
    if (index != i) return MakeKind<i + 1>(index);
  }
  return std::variant_alternative_t<i, FlowKind>();
}

FlowSpec ReadFlow(const nlohmann::json& value, const std::string& path, int64_t duration_ns) {
  PartReader read(value, path);
  FlowSpec flow;
  flow.kind = MakeKind(read.Choice("kind", kFlowKindNames));
  read.Text("id", flow.id);
  read.Choice("direction", flow.direction, {"forward", "reverse"});
  read.Seconds("start_s", flow.start_ns, kTimeS);
  flow.stop_ns = duration_ns;
  if (read.Has("stop_s")) {
    read.Seconds("stop_s", flow.stop_ns, kPositiveTimeS);
    if (flow.stop_ns <= flow.start_ns) RefuseJson(path + ".stop_s", "must be later than start_s");
    flow.stop_ns = std::min(flow.stop_ns, duration_ns);
  }
  const auto read_kind = [&](auto& spec) {
    if (spec.kHasAccessPath) read.Milliseconds("extra_one_way_delay_ms", flow.extra_one_way_delay_ns, kDelayMs);
    spec.Read(read);
  };
  std::visit(read_kind, flow.kind);
  read.Finish();
  return flow;
}

Scenario ReadScenario(const nlohmann::json& document) {
  JsonObject object(document, "");
  if (const std::string schema = object.String("schema"); schema != kScenarioSchema) {
    RefuseJson("schema", "must be \"" + std::string(kScenarioSchema) + "\", not " + ShownJson(schema));
  }
  Scenario scenario;
  scenario.name = object.String("name");
  // For people only.
  JsonString(object.Require("description"), "description");
  const JsonObject provenance(object.Require("provenance"), "provenance");
  for (const auto& [key, value] : document["provenance"].items()) JsonString(value, provenance.PathOf(key));
  // The controllers' clock counts microseconds.
  const double duration_s = object.Number("duration_s", {.min = 0, .max = kMaxDurationS, .min_excluded = true});
  scenario.duration = TimeDelta::Micros(std::max<int64_t>(std::llround(duration_s * 1e9) / 1000, 1));
  ReadPart(object.Require("forward"), "forward", scenario.forward);
  ReadPart(object.Require("reverse"), "reverse", scenario.reverse);
  const nlohmann::json& flows = JsonArray(object.Require("flows"), "flows", 1, SIZE_MAX);
  std::set<std::string> ids;
  for (size_t i = 0; i < flows.size(); ++i) {
    const std::string path = "flows[" + std::to_string(i) + "]";
    FlowSpec flow = ReadFlow(flows[i], path, scenario.duration_ns());
    if (!ids.insert(flow.id).second)
      RefuseJson(path + ".id", ShownJson(flow.id) + " is taken; give every flow an id of its own");
    const auto* const tcp = std::get_if<TcpSpec>(&flow.kind);
    const LinkSpec& link = scenario.link(flow.direction);
    if (tcp && !tcp->transfers && !link.capacity && link.loss.kind == LossSpec::Kind::kNone)
      RefuseJson(path, "an endless TCP transfer grows for ever where its link has no capacity");
    scenario.flows.push_back(std::move(flow));
  }
  object.RefuseUnknownKeys();
  return scenario;
}

}  // namespace

Scenario ParseScenario(const nlohmann::json& document) {
  try {
    return ReadScenario(document);
  } catch (const MissingKey& error) {
    throw ProgramError(
        std::string(error.what()) +
        ". weir-sim reads whole scenarios; `weir traces convert FILE.json WHOLE.json` fills in defaults");
  }
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
