#include "run/registry_lists.h"

#include <iomanip>
#include <sstream>

#include "scenario/scenario.h"
#include "weir/objective.h"
#include "weir/registry/controllers.h"

namespace weir::sim {

std::string RegistryList(const std::string& what) {
  std::ostringstream lines;
  // Columns: names are short.
  lines << std::left;
  const auto name = [&lines](std::string_view text) -> std::ostream& { return lines << std::setw(12) << text; };
  if (what == "controllers") {
    for (const RegisteredController& one : kControllers) {
      if (one.simulated) name(one.name) << one.summary << '\n';
    }
  } else if (what == "flows") {
    for (const FlowKindRow& one : kFlowKinds) name(one.name) << one.summary << '\n';
  } else if (what == "presets") {
    for (const auto& [preset, weights] : kObjectivePresets) {
      name(preset) << weights.throughput << ',' << weights.latency << ',' << weights.loss << '\n';
    }
  } else {
    throw InputError("--list " + what + ": must be controllers, flows or presets");
  }
  return lines.str();
}

}  // namespace weir::sim
