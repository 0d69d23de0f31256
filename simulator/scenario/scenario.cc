#include "scenario/scenario.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "scenario/part_reader.h"

namespace weir::sim {
namespace {

// A day: it can be simulated in minutes, and its series fit into memory.
constexpr double kMaxDurationS = 86'400;

// Selects the kind of flow that the document names.
template <class... Specs>
void ReadKind(PartReader& read, std::variant<Specs...>& kind) {
  size_t index = 0;
  read.Choice("kind", index, std::array<std::string_view, sizeof...(Specs)>{Specs::kName...});
  const std::variant<Specs...> kinds[] = {Specs()...};
  kind = kinds[index];
}

FlowSpec ReadFlow(PartReader& read, const Scenario& scenario) {
  FlowSpec flow;
  ReadKind(read, flow.kind);
  read.Text("id", flow.id);
  read.Choice("direction", flow.direction, {"forward", "reverse"});
  read.Time("start_s", flow.start);
  flow.stop = scenario.end();
  if (read.Has("stop_s")) read.Time("stop_s", flow.stop);
  flow.stop = std::min(flow.stop, scenario.end());
  const auto read_kind = [&](auto& spec) {
    if (spec.kHasAccessPath) read.Milliseconds("extra_one_way_delay_ms", flow.extra_one_way_delay);
    spec.Read(read);
  };
  std::visit(read_kind, flow.kind);
  const auto* const tcp = std::get_if<TcpSpec>(&flow.kind);
  const LinkSpec& link = scenario.link(flow.direction);
  if (tcp && !tcp->transfers && !link.capacity && link.loss.kind == LossSpec::Kind::kNone)
    read.Refuse("transfers", "an endless TCP transfer grows for ever where its link has no capacity");
  return flow;
}

Scenario ReadScenario(const nlohmann::json& document) {
  PartReader read(document, "");
  Scenario scenario;
  int version = 0;
  read.Choice("schema", version, {kScenarioSchema});
  read.Text("name", scenario.name);
  double duration_s = 0;
  read.Number("duration_s", duration_s, {.min = 0, .max = kMaxDurationS, .min_excluded = true});
  // The controllers' clock counts microseconds.
  scenario.duration = SimDuration::Micros(std::max<int64_t>(std::llround(duration_s * 1e9) / 1000, 1));
  read.Object("forward", scenario.forward);
  read.Object("reverse", scenario.reverse);
  const nlohmann::json& flows = read.Array("flows", 1, SIZE_MAX);
  for (size_t i = 0; i < flows.size(); ++i) {
    PartReader flow(flows[i], "flows[" + std::to_string(i) + "]");
    scenario.flows.push_back(ReadFlow(flow, scenario));
  }
  return scenario;
}

}  // namespace

Scenario ParseScenario(const nlohmann::json& document) {
  try {
    return ReadScenario(document);
  } catch (const ProgramError& error) {
    throw ProgramError(
        std::string(error.what()) +
        ". weir-sim reads whole scenarios; `weir traces convert FILE.json WHOLE.json` fills in defaults");
  }
}

int64_t QueueLimit(const LinkSpec& link, SimDuration duration) {
  double limit = link.queue.amount;
  if (link.queue.unit == QueueSpec::Unit::kMilliseconds)
    limit = link.capacity->MeanRateBps(duration) * link.queue.amount / 8000.0;
  const int64_t least = link.queue.unit == QueueSpec::Unit::kPackets ? 1 : kMaxPacketBytes;
  // The upper limit exceeds any queue that could fill, and is exact in both types.
  return std::max(static_cast<int64_t>(std::min(limit, 1e15)), least);
}

}  // namespace weir::sim
