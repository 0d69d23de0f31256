// The request that opens a run of `serve`.
#ifndef WEIR_TRAINER_GYM_SIM_SERVE_SERVE_REQUEST_H_
#define WEIR_TRAINER_GYM_SIM_SERVE_SERVE_REQUEST_H_

#include <cstddef>
#include <string_view>

#include "endpoints/agent_controller.h"
#include "flows/simulation_job.h"

namespace weir::sim {

struct ServeRequest {
  SimulationJob job;
  // Everything but `source`.
  AgentSpecification agent;
  // Whether each step also tells of every packet received.
  bool packets = false;
};

// Throws InputError.
ServeRequest ParseServeRequest(std::string_view text);

// The flow that the agent has: the first RTP flow "under_test". Throws InputError when there is none.
size_t AgentFlowIndex(const Scenario& scenario);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_SERVE_SERVE_REQUEST_H_
