// `weir-sim run`: reads scenarios and writes result records (JSON, "weir.result/1"), one per line.
#ifndef WEIR_SIMULATOR_RUN_RUN_H_
#define WEIR_SIMULATOR_RUN_RUN_H_

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flows/flow_set.h"
#include "run/simulation.h"
#include "weir/objective.h"

namespace weir::sim {

struct JobOptions {
  // The controller of RTP flows "under_test"; if empty, a command's own.
  std::string controller;
  // The model of "weir"; may be empty for other controllers.
  std::string model_path;
  std::optional<Objective> objective;
  uint64_t seed = 1;
};

// Returns the job of the options without a scenario. `without_model`, `with_model`: the controllers of no other name.
SimulationJob JobOf(const JobOptions& options, std::string_view without_model, std::string_view with_model);

// Returns the job with a scenario from a file, by default under "rule" or, with a model, "weir". Its model is not
// loaded. Throws ProgramError.
SimulationJob ReadJob(const std::string& scenario_path, const JobOptions& options);

struct RunOptions {
  JobOptions job;
  bool series = true;
  std::vector<std::string> scenario_paths;
};

// Throws ProgramError, before the first run if possible.
void RunFiles(const RunOptions& options, std::ostream& out, const MakeStack& make_stack = nullptr);

// Reads one job a line until the end of the input and answers each with one line, in order: a result record, or {"job":
// ..., "error": ...}, with "failed": true if the job was valid but its custom controller failed in the run.
void RunJobs(std::istream& in, std::ostream& out, const MakeStack& make_stack = nullptr);

// Runs the job to its end. The same job gives the same bytes whatever the process did before. Rates and delays are
// rounded to fixed decimals, so nothing in a record depends on how a library prints numbers. Throws ProgramError.
nlohmann::ordered_json RunJob(const SimulationJob& job, bool series, const MakeStack& make_stack = nullptr);

// {"weir": ..., "ns3": ..., "libwebrtc": ..., "onnxruntime": ...}
nlohmann::ordered_json Versions();

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_RUN_RUN_H_
