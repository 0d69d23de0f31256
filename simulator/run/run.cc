#include "run/run.h"

#include <algorithm>
#include <exception>
#include <istream>
#include <map>
#include <memory>
#include <new>
#include <ostream>
#include <sstream>
#include <utility>

#include "endpoints/controller_table.h"
#include "endpoints/controllers.h"
#include "programs/custom_controllers.h"
#include "programs/input.h"
#include "programs/json.h"
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

SimulationJob ReadJob(const std::string& scenario_path, const JobOptions& options) {
  SimulationJob job;
  job.scenario = ReadScenarioFile(scenario_path);
  job.controller = !options.controller.empty() ? options.controller : options.model_path.empty() ? "rule" : "weir";
  job.objective = options.objective;
  job.seed = options.seed;
  job.model_path = options.model_path;
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
  result.job.scenario = ParseScenario(object.Require("scenario"));
  result.job.controller = object.String("controller");
  if (const json* custom = object.FindOptional("custom")) ParseCustom(*custom, result);
  if (const json* model = object.FindOptional("model")) result.job.model_path = JsonString(*model, "model");
  if (const json* objective = object.FindOptional("objective")) {
    result.job.objective = ParseObjective(*objective, "objective");
  }
  result.job.seed = static_cast<uint64_t>(object.Integer("seed", {.min = 0, .max = 9.2e18}, 1));
  if (const json* off = object.FindOptional("guard_off")) result.job.guard_rules = ParseGuardOff(*off);
  result.job.decision_delay = ParseDecisionDelay(object);
  if (const json* call = object.FindOptional("call")) result.job.call = ParseCallMedia(*call);
  result.series = object.Boolean("series", true);
  object.RefuseUnknownKeys();
  return result;
}

void CheckController(const SimulationJob& job) {
  if (job.controller == "under_test") throw ProgramError("a controller's name is needed in place of \"under_test\"");
  // Checks even if no flow is under test, so that no result has an unknown name.
  if (!job.custom && !job.custom_policy) CheckControllerName(job.controller);
}

nlohmann::ordered_json Answer(const std::string& text, ModelFiles& models, CustomControllers& custom_controllers,
                              const MakeStack& make_stack) {
  nlohmann::ordered_json id = nullptr;
  try {
    if (text.size() > kMaxInputFileBytes) throw ProgramError("a job of more than 64 MiB; shorten its scenario");
    const json line = ParseJson(text);
    if (line.is_object() && line.contains("job")) id = line["job"];
    JobLine parsed = ParseJobLine(line);
    parsed.job.custom = parsed.custom ? &*parsed.custom : nullptr;
    parsed.job.custom_controllers = &custom_controllers;
    CheckController(parsed.job);
    parsed.job.model = ModelOf(parsed.job.model_path, models);
    if (parsed.job.custom_policy)
      parsed.job.custom_policy->model = ModelOf(parsed.job.custom_policy->model_path, models);
    nlohmann::ordered_json record = RunJob(parsed.job, parsed.series, make_stack);
    nlohmann::ordered_json answer{{"schema", record["schema"]}, {"job", id}};
    // Moved, not copied: series are most of a record.
    for (auto& [name, value] : record.items()) answer[name] = std::move(value);
    return answer;
  } catch (const ProgramError& error) {
    nlohmann::ordered_json answer{{"job", id}, {"error", error.what()}};
    if (error.status() == kFailed) answer["failed"] = true;
    return answer;
  } catch (const std::bad_alloc&) {
    return {{"job", id}, {"error", kOutOfMemory}};
  } catch (const std::exception& error) {
    return {{"job", id}, {"error", error.what()}};
  }
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

namespace {

// Reads the next line and skips what exceeds the size limit of a job. False at the end.
bool ReadLine(std::istream& in, std::string& line) {
  constexpr int kEnd = std::char_traits<char>::eof();
  line.clear();
  std::streambuf& text = *in.rdbuf();
  int c = text.sbumpc();
  if (c == kEnd) return false;
  for (; c != '\n' && c != kEnd; c = text.sbumpc()) {
    if (line.size() <= kMaxInputFileBytes) line += static_cast<char>(c);
  }
  return true;
}

}  // namespace

void RunJobs(std::istream& in, std::ostream& out, const MakeStack& make_stack) {
  ModelFiles models;
  CustomControllers custom_controllers(/*watch_libraries=*/true);
  for (std::string line; ReadLine(in, line);) {
    if (line.empty()) continue;
    out << JsonText(Answer(line, models, custom_controllers, make_stack)) << '\n' << std::flush;
  }
}

}  // namespace weir::sim
