#include "external_controllers.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "library_decision_maker.h"
#include "program_decision_maker.h"

namespace weir::external {

Result<ExternalSpecification> ParseSpecification(const nlohmann::json& value, const std::string& name) {
  ExternalSpecification result;
  result.name = name;
  const auto text = [&](const char* key) -> std::string {
    const auto found = value.find(key);
    return found != value.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (!value.is_object() || (text("kind") != "program" && text("kind") != "library"))
    return Error{"external: must be an object with \"kind\": \"program\" or \"library\""};
  const bool program = text("kind") == "program";
  const char* const what = program ? "command" : "library";
  for (const auto& [key, of] : value.items()) {
    if (key != "kind" && key != what && key != "time_limit_s") return Error{"external." + key + ": unknown key"};
  }
  if (program && value.contains("command") && value["command"].is_array()) {
    for (const auto& argument : value["command"]) {
      if (!argument.is_string()) return Error{"external.command: must be a list of strings"};
      result.command.push_back(argument.get<std::string>());
    }
  }
  result.library = program ? "" : text("library");
  if (result.command.empty() && result.library.empty()) return Error{std::string("external.") + what + ": is missing"};
  if (const auto limit = value.find("time_limit_s"); limit != value.end()) {
    const double limit_s = limit->is_number() ? limit->get<double>() : NAN;
    if (!(limit_s >= 0.001 && limit_s <= 3600)) return Error{"external.time_limit_s: must be 0.001 to 3600"};
    result.decision_limit = TimeDelta::SecondsF(limit_s);
  }
  return result;
}

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
                                                 specification.decision_limit, watch_libraries_));
  }
  std::unique_ptr<LineProcess> process = TakeIdle(specification.command);
  if (!process) {
    auto started = LineProcess::Start(specification.command);
    if (!started) return Error{AboutController(specification.name, started.error())};
    process = std::move(started.value());
  }
  return with_name(ProgramDecisionMaker::Start(
      std::move(process), start, specification.decision_limit,
      [this, command = specification.command](auto free) { TakeBack(command, std::move(free)); }));
}

std::unique_ptr<LineProcess> ExternalControllers::TakeIdle(const std::vector<std::string>& command) {
  const std::lock_guard lock(mutex_);
  auto& idle = idle_[command];
  if (idle.empty()) return nullptr;
  std::unique_ptr<LineProcess> process = std::move(idle.back());
  idle.pop_back();
  return process;
}

void ExternalControllers::TakeBack(const std::vector<std::string>& command, std::unique_ptr<LineProcess> process) {
  const std::lock_guard lock(mutex_);
  idle_[command].push_back(std::move(process));
}

std::string AboutController(const std::string& name, const std::string& what) {
  return "the controller " + name + (what.empty() ? "" : ": " + what);
}

}  // namespace weir::external
