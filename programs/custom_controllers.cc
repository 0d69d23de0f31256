#include "programs/custom_controllers.h"

#include <cstdint>
#include <utility>

#include "programs/json.h"

namespace weir {

CustomControllerSpecification ParseCustomControllerSpecification(const nlohmann::json& value, const std::string& path,
                                                                 const std::string& name) {
  JsonObject object(value, path);
  CustomControllerSpecification result;
  result.name = name;
  if (object.Choice("kind", {"program", "library"}) == 0) {
    const std::string command_path = object.PathOf("command");
    for (const auto& argument : JsonArray(object.Require("command"), command_path, 1, SIZE_MAX)) {
      result.command.push_back(JsonString(argument, command_path));
    }
  } else {
    result.library = object.String("library");
  }
  constexpr NumberRange kLimit{.min = 0.001, .max = 3600};
  result.decision_limit = TimeDelta::SecondsF(object.Number("time_limit_s", kLimit, result.decision_limit.seconds()));
  object.RefuseUnknownKeys();
  return result;
}

Result<std::unique_ptr<CustomCode>> CustomControllers::Start(const CustomControllerSpecification& specification,
                                                             const TargetRateConstraints& constraints,
                                                             const Objective& objective, uint64_t seed) {
  const weir_controller_start start = StartRequest(constraints, objective, seed);
  const auto with_name = [&](Result<std::unique_ptr<CustomCode>> made) {
    return made ? std::move(made) : Error{AboutController(specification.name, made.error())};
  };
  if (!specification.library.empty()) {
    return with_name(StartLibrary(specification.library, AboutController(specification.name, ""), start,
                                  specification.decision_limit, watch_libraries_));
  }
  std::unique_ptr<LineProcess> process = TakeIdle(specification.command);
  if (!process) {
    auto started = LineProcess::Start(specification.command);
    if (!started) return Error{AboutController(specification.name, started.error())};
    process = std::move(started.value());
  }
  return with_name(
      StartProgram(std::move(process), start, specification.decision_limit,
                   [this, command = specification.command](auto free) { TakeBack(command, std::move(free)); }));
}

std::unique_ptr<LineProcess> CustomControllers::TakeIdle(const std::vector<std::string>& command) {
  const std::lock_guard lock(mutex_);
  auto& idle = idle_[command];
  if (idle.empty()) return nullptr;
  std::unique_ptr<LineProcess> process = std::move(idle.back());
  idle.pop_back();
  return process;
}

void CustomControllers::TakeBack(const std::vector<std::string>& command, std::unique_ptr<LineProcess> process) {
  const std::lock_guard lock(mutex_);
  idle_[command].push_back(std::move(process));
}

std::string AboutController(const std::string& name, const std::string& what) {
  return "the controller " + name + (what.empty() ? "" : ": " + what);
}

}  // namespace weir
