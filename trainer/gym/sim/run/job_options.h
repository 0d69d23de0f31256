// What `run` and `link` are told of a simulation beside its scenario.
#ifndef WEIR_TRAINER_GYM_SIM_RUN_JOB_OPTIONS_H_
#define WEIR_TRAINER_GYM_SIM_RUN_JOB_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "flows/simulation_job.h"
#include "weir/objective.h"

namespace weir::sim {

struct JobOptions {
  // What RTP flows "under_test" run; empty: weir with a model, else rule.
  std::string controller;
  // For "weir"; may be empty otherwise.
  std::string model_path;
  std::optional<Objective> objective;
  uint64_t seed = 1;
};

// The job without the model's bytes. Throws InputError.
SimulationJob ReadJob(const std::string& scenario_path, const JobOptions& options);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_JOB_OPTIONS_H_
