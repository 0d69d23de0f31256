#include "external_controllers.h"

#include <utility>

#include "library_decision_maker.h"
#include "program_decision_maker.h"

namespace weir::external {

weir_controller_objective ToC(const Objective& objective) {
  return {.throughput = objective.throughput, .latency = objective.latency, .loss = objective.loss};
}

Result<std::unique_ptr<DecisionMaker>> ExternalControllers::Start(const ExternalSpecification& specification,
                                                                  const TargetRateConstraints& constraints,
                                                                  const Objective& objective, uint64_t seed) {
  const weir_controller_start start{.seed = seed,
                                    .min_bps = constraints.min_rate.bps(),
                                    .start_bps = constraints.start_rate.bps(),
                                    .max_bps = constraints.max_rate.bps(),
                                    .objective = ToC(objective)};
  const auto with_name = [&](Result<std::unique_ptr<DecisionMaker>> made) {
    return made ? std::move(made) : Error{AboutController(specification.name, made.error())};
  };
  if (!specification.library.empty()) {
    return with_name(LibraryDecisionMaker::Start(specification.library, AboutController(specification.name, ""), start,
                                                 specification.decision_limit));
  }
  auto& idle = idle_[specification.command];
  std::unique_ptr<LineProcess> process;
  if (!idle.empty()) {
    process = std::move(idle.back());
    idle.pop_back();
  } else {
    auto started = LineProcess::Start(specification.command);
    if (!started) return Error{AboutController(specification.name, started.error())};
    process = std::move(started.value());
  }
  return with_name(
      ProgramDecisionMaker::Start(std::move(process), start, specification.decision_limit,
                                  [&idle](std::unique_ptr<LineProcess> free) { idle.push_back(std::move(free)); }));
}

std::string AboutController(const std::string& name, const std::string& what) {
  return "the controller " + name + (what.empty() ? "" : ": " + what);
}

}  // namespace weir::external
