// A scenario document (JSON, "weir.scenario/1") as structs: a bottleneck in each direction and the flows that share it.
// There are no defaults here: traces/weir_traces/schema fills them into every document.
#ifndef WEIR_SIMULATOR_SCENARIO_SCENARIO_H_
#define WEIR_SIMULATOR_SCENARIO_SCENARIO_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/sim_time.h"
#include "programs/input.h"
#include "scenario/cbr_spec.h"
#include "scenario/link_spec.h"
#include "scenario/rtp_spec.h"
#include "scenario/tcp_spec.h"
#include "weir/units.h"

namespace weir::sim {

inline constexpr std::string_view kScenarioSchema = "weir.scenario/1";

// Every kind of flow, one per row. A kind has a name, its keys (Read), constant_rate(), which is empty for a flow that
// adapts, and takes_its_share(), which is true if the flow competes for capacity while active.
using FlowKind = std::variant<RtpSpec,  //
                              TcpSpec,  //
                              CbrSpec>;

enum class Direction { kForward, kReverse };

struct FlowSpec {
  std::string id;
  Direction direction = Direction::kForward;
  SimTime start = kTimeZero;
  // Never after the scenario's end. A flow whose start is not before its stop never starts.
  SimTime stop = kTimeZero;
  // The delay of this flow's own access path, in each direction; for kinds that have one.
  SimDuration extra_one_way_delay = SimDuration::Zero();
  FlowKind kind;

  std::string_view kind_name() const {
    return std::visit([](const auto& spec) { return spec.kName; }, kind);
  }
  std::optional<DataRate> constant_rate() const {
    return std::visit([](const auto& spec) { return spec.constant_rate(); }, kind);
  }
  bool takes_its_share() const {
    return std::visit([](const auto& spec) { return spec.takes_its_share(); }, kind);
  }
};

struct Scenario {
  std::string name;
  // Whole microseconds.
  SimDuration duration = SimDuration::Zero();
  LinkSpec forward;
  LinkSpec reverse;
  std::vector<FlowSpec> flows;

  SimTime end() const { return kTimeZero + duration; }
  const LinkSpec& link(Direction direction) const { return direction == Direction::kForward ? forward : reverse; }
};

// Parses a whole document whose content traces/weir_traces/schema has checked; see PartReader. Throws ProgramError with
// a JSON path.
Scenario ParseScenario(const nlohmann::json& document);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_SCENARIO_H_
