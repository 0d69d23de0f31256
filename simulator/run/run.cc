#include "run/run.h"

#include <algorithm>
#include <istream>
#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "endpoints/controller_table.h"
#include "endpoints/controllers.h"
#include "programs/custom_controllers.h"
#include "programs/input.h"
#include "programs/json.h"
#include "run/request.h"
#include "run/simulation.h"
#include "scenario/scenario.h"
#include "weir/names.h"

namespace weir::sim {
namespace {

Scenario ReadScenarioFile(const std::string& path) {
  try {
    return ParseScenario(ParseJson(ReadInputFile(path, "scenario")));
  } catch (const ProgramError& error) {
    const std::string message = error.what();
    throw ProgramError(message.find(path) == std::string::npos ? path + ": " + message : message);
  }
}

}  // namespace

SimulationJob JobOf(const JobOptions& options, std::string_view without_model, std::string_view with_model) {
  SimulationJob job;
  job.controller = options.controller;
  if (job.controller.empty()) job.controller = options.model_path.empty() ? without_model : with_model;
  job.objective = options.objective;
  job.seed = options.seed;
  job.model_path = options.model_path;
  return job;
}

SimulationJob ReadJob(const std::string& scenario_path, const JobOptions& options) {
  SimulationJob job = JobOf(options, "rule", "weir");
  job.scenario = ReadScenarioFile(scenario_path);
  return job;
}

namespace {

using nlohmann::json;

// Model files by path, kept for the next jobs.
using ModelFiles = std::map<std::string, std::shared_ptr<ModelFile>>;

std::shared_ptr<ModelFile> ModelOf(const std::string& path, ModelFiles& files) {
  if (path.empty()) return nullptr;
  auto& file = files[path];
  if (!file) file = std::make_shared<ModelFile>(path);
  return file;
}

struct JobLine {
  SimulationJob job;
  std::optional<CustomControllerSpecification> custom;
  bool series = true;
};

CustomPolicy ParseCustomPolicy(const json& value) {
  JsonObject object(value, "custom");
  object.Find("kind");
  CustomPolicy policy;
  policy.model_path = object.String("model");
  policy.guard = object.Boolean("guard", policy.guard);
  object.RefuseUnknownKeys();
  return policy;
}

// Parses the names of the guard's rules to switch off.
GuardOptions ParseGuardOff(const json& value) {
  GuardOptions rules;
  if (!value.is_array()) RefuseJson("guard_off", "must be an array of names of the guard's rules");
  for (const json& name : value) {
    if (!rules.SwitchOff(JsonString(name, "guard_off"))) RefuseJson("guard_off", "names a rule without a switch");
  }
  return rules;
}

// Parses a custom controller or policy.
void ParseCustom(const json& value, JobLine& line) {
  if (FindRow(SimulatedControllers(), line.job.controller))
    RefuseJson("controller", "is built in under this name; a custom controller needs another");
  if (value.is_object() && value.value("kind", json()) == "policy") {
    line.job.custom_policy = ParseCustomPolicy(value);
  } else {
    line.custom = ParseCustomControllerSpecification(value, "custom", line.job.controller);
  }
}

JobLine ParseJobLine(const json& line) {
  JsonObject object(line, "");
  object.Find("job");
  JobLine result;
  result.job = ParseJob(object);
  result.job.controller = object.String("controller");
  if (const json* custom = object.FindOptional("custom")) ParseCustom(*custom, result);
  if (const json* model = object.FindOptional("model")) result.job.model_path = JsonString(*model, "model");
  if (const json* off = object.FindOptional("guard_off")) result.job.guard_rules = ParseGuardOff(*off);
  result.series = object.Boolean("series", true);
  object.RefuseUnknownKeys();
  return result;
}

void CheckController(const SimulationJob& job) {
  if (job.controller == "under_test") throw ProgramError("a controller's name is needed in place of \"under_test\"");
  // Checks even if no flow is under test, so that no result has an unknown name.
  if (!job.custom && !job.custom_policy) CheckControllerName(job.controller);
}

// Returns the answer to a line. `id` is set as soon as the line's "job" has been read.
nlohmann::ordered_json Answer(const std::string& text, nlohmann::ordered_json& id, ModelFiles& models,
                              CustomControllers& custom_controllers, const MakeStack& make_stack) {
  if (text.size() > kMaxInputFileBytes) throw ProgramError("a job of more than 64 MiB; shorten its scenario");
  const json line = ParseJson(text);
  if (line.is_object() && line.contains("job")) id = line["job"];
  JobLine parsed = ParseJobLine(line);
  parsed.job.custom = parsed.custom ? &*parsed.custom : nullptr;
  parsed.job.custom_controllers = &custom_controllers;
  CheckController(parsed.job);
  parsed.job.model = ModelOf(parsed.job.model_path, models);
  if (parsed.job.custom_policy) parsed.job.custom_policy->model = ModelOf(parsed.job.custom_policy->model_path, models);
  nlohmann::ordered_json record = RunJob(parsed.job, parsed.series, make_stack);
  nlohmann::ordered_json answer{{"schema", record["schema"]}, {"job", id}};
  // Moved, not copied: series are most of a record.
  for (auto& [name, value] : record.items()) answer[name] = std::move(value);
  return answer;
}

}  // namespace

void RunFiles(const RunOptions& options, std::ostream& out, const MakeStack& make_stack) {
  ModelFiles models;
  std::vector<SimulationJob> jobs;
  for (const std::string& path : options.scenario_paths) {
    SimulationJob& job = jobs.emplace_back(ReadJob(path, options.job));
    job.model = ModelOf(job.model_path, models);
    CheckController(job);
  }
  for (const SimulationJob& job : jobs) out << JsonText(RunJob(job, options.series, make_stack)) << '\n' << std::flush;
}

void RunJobs(std::istream& in, std::ostream& out, const MakeStack& make_stack) {
  ModelFiles models;
  CustomControllers custom_controllers(/*watch_libraries=*/true);
  for (std::string line; ReadLine(in, line, kMaxInputFileBytes);) {
    if (line.empty()) continue;
    nlohmann::ordered_json id = nullptr, answer;
    if (const auto failure = FailureOf([&] { answer = Answer(line, id, models, custom_controllers, make_stack); })) {
      answer = {{"job", id}, {"error", failure->message}};
      if (failure->in_run) answer["failed"] = true;
    }
    out << JsonText(answer) << '\n' << std::flush;
  }
}

}  // namespace weir::sim
