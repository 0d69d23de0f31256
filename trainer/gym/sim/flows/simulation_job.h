// The inputs that determine a simulation: scenario, controllers, seed.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_SIMULATION_JOB_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_SIMULATION_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "endpoints/agent_controller.h"
#include "endpoints/model_file.h"
#include "program/external_controllers.h"
#include "scenario/scenario.h"
#include "weir/guard.h"
#include "weir/objective.h"

namespace weir::sim {

struct SimulationJob {
  Scenario scenario;
  // Controller and objective of flows "under_test"; a flow's own objective comes first.
  std::string controller = "rule";
  std::optional<Objective> objective;
  uint64_t seed = 1;
  // For the controller "weir"; empty: there is none.
  std::string model_path;
  // The file at `model_path`; set when the job is run.
  std::shared_ptr<ModelFile> model;
  // A controller of the user's own, whose name is `controller`; null: one of those built in.
  const external::ExternalSpecification* external = nullptr;
  // The factory of `external`; set when `external` is.
  external::ExternalControllers* external_controllers = nullptr;
  // A policy of the user's own, whose name is `controller`.
  std::optional<OwnPolicy> own_policy;
  // With an agent: it has the first flow under test, and the others run "rule".
  const AgentSpecification* agent = nullptr;
  bool agent_guard = false;
  // For every flow with a guard, but for the agent's.
  GuardOptions guard_rules = {};
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_SIMULATION_JOB_H_
