#include "run/run.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <istream>
#include <map>
#include <ostream>
#include <span>
#include <sstream>
#include <utility>

#include "core/input_error.h"
#include "core/json_object.h"
#include "endpoints/controller_failed.h"
#include "endpoints/controllers.h"
#include "external_controllers.h"
#include "run/input_files.h"
#include "run/result_record.h"
#include "run/simulation.h"
#include "scenario/scenario.h"
#include "weir/registry/controllers.h"
#include "weir/registry/names.h"

namespace weir::sim {
namespace {

using nlohmann::json;

// Model files, each read once.
class ModelFiles {
 public:
  std::span<const std::byte> Get(const std::string& path) {
    if (path.empty()) return {};
    auto [entry, is_new] = files_.try_emplace(path);
    if (is_new) {
      try {
        entry->second = ReadInputFile(path, "model");
      } catch (...) {
        files_.erase(entry);
        throw;
      }
    }
    return std::as_bytes(std::span(entry->second));
  }

 private:
  std::map<std::string, std::string> files_;
};

struct JobLine {
  SimulationJob job;
  std::optional<external::ExternalSpecification> external;
  bool series = true;
};

external::ExternalSpecification ParseExternal(const json& value, const std::string& name) {
  if (std::ranges::find(kSimulatedControllers, name) != kSimulatedControllers.end())
    RefuseJson("controller", "is built in under this name; a controller of one's own needs another");
  const auto specification = external::ParseSpecification(value, name);
  if (!specification) throw InputError(specification.error());
  return specification.value();
}

JobLine ParseJobLine(const json& line) {
  JsonObject object(line, "");
  object.Find("job");
  JobLine result;
  result.job.scenario = ParseScenario(object.Require("scenario"));
  result.job.controller = object.String("controller");
  if (const json* own = object.FindOptional("external")) result.external = ParseExternal(*own, result.job.controller);
  if (const json* model = object.FindOptional("model")) result.job.model_path = JsonString(*model, "model");
  if (const json* objective = object.FindOptional("objective")) result.job.objective = ParseObjective(*objective);
  result.job.seed = static_cast<uint64_t>(object.Integer("seed", {.min = 0, .max = 9.2e18}, 1));
  result.series = object.Boolean("series", true);
  object.RefuseUnknownKeys();
  return result;
}

void CheckController(const SimulationJob& job) {
  if (job.controller == "under_test") throw InputError("a controller's name is needed in place of \"under_test\"");
  // Also where no flow is under test: no result may bear a name that is none.
  if (!job.external) CheckControllerName(job.controller);
}

nlohmann::ordered_json Answer(const std::string& text, ModelFiles& models, external::ExternalControllers& external) {
  nlohmann::ordered_json id = nullptr;
  try {
    const json line = ParseInputJson(text);
    if (line.is_object() && line.contains("job")) id = line["job"];
    JobLine parsed = ParseJobLine(line);
    parsed.job.external = parsed.external ? &*parsed.external : nullptr;
    parsed.job.external_controllers = &external;
    CheckController(parsed.job);
    parsed.job.model = models.Get(parsed.job.model_path);
    nlohmann::ordered_json record = RunJob(parsed.job, parsed.series);
    nlohmann::ordered_json answer{{"schema", record["schema"]}, {"job", id}};
    // Moved, not copied: series are most of a record.
    for (auto& [name, value] : record.items()) answer[name] = std::move(value);
    return answer;
  } catch (const ControllerFailed& error) {
    return {{"job", id}, {"error", error.what()}, {"failed", true}};
  } catch (const std::exception& error) {
    return {{"job", id}, {"error", error.what()}};
  }
}

}  // namespace

Objective ParseObjective(const json& value) {
  const bool valid =
      value.is_array() && value.size() == 3 && value[0].is_number() && value[1].is_number() && value[2].is_number();
  const std::optional<Objective> objective =
      valid ? NormalizedObjective(value[0].get<float>(), value[1].get<float>(), value[2].get<float>()) : std::nullopt;
  if (!objective) {
    throw InputError("objective: must be three weights above 0 (throughput, latency, loss), such as [0.4, 0.5, 0.1]");
  }
  return *objective;
}

Objective ParseObjective(const std::string& text) {
  if (const std::optional<Objective> preset = ObjectivePreset(text)) return *preset;
  float weights[3];
  char rest = 0;
  if (std::sscanf(text.c_str(), "%f,%f,%f%c", &weights[0], &weights[1], &weights[2], &rest) == 3) {
    if (const auto objective = NormalizedObjective(weights[0], weights[1], weights[2])) return *objective;
  }
  throw InputError("--objective " + text +
                   ": must be three weights above 0 (throughput,latency,loss) such as 0.4,0.5,0.1, or " +
                   ListNames(kObjectivePresets));
}

void RunFiles(const RunOptions& options, std::ostream& out) {
  ModelFiles models;
  std::vector<SimulationJob> jobs;
  for (const std::string& path : options.scenario_paths) {
    SimulationJob& job = jobs.emplace_back();
    job.scenario = ReadScenarioFile(path);
    job.controller = options.controller;
    job.objective = options.objective;
    job.seed = options.seed;
    job.model_path = options.model_path;
    job.model = models.Get(job.model_path);
    CheckController(job);
  }
  for (const SimulationJob& job : jobs) out << RunJob(job, options.series).dump() << '\n' << std::flush;
}

void RunJobs(std::istream& in, std::ostream& out) {
  ModelFiles models;
  external::ExternalControllers external(/*watch_libraries=*/true);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    out << Answer(line, models, external).dump() << '\n' << std::flush;
  }
}

}  // namespace weir::sim
