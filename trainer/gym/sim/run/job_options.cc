#include "run/job_options.h"

#include "program/input.h"
#include "program/json.h"

namespace weir::sim {
namespace {

Scenario ReadScenarioFile(const std::string& path) {
  try {
    return ParseScenario(ParseJson(ReadInputFile(path, "scenario")));
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.find(path) == std::string::npos ? path + ": " + message : message);
  }
}

}  // namespace

SimulationJob ReadJob(const std::string& scenario_path, const JobOptions& options) {
  SimulationJob job;
  job.scenario = ReadScenarioFile(scenario_path);
  job.controller = !options.controller.empty() ? options.controller : options.model_path.empty() ? "rule" : "weir";
  job.objective = options.objective;
  job.seed = options.seed;
  job.model_path = options.model_path;
  return job;
}

}  // namespace weir::sim
