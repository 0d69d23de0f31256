// The request that starts a run of `weir-sim serve`.
#ifndef WEIR_SIMULATOR_SERVE_SERVE_REQUEST_H_
#define WEIR_SIMULATOR_SERVE_SERVE_REQUEST_H_

#include <cstddef>
#include <string_view>

#include "endpoints/agent.h"
#include "endpoints/simulation_job.h"

namespace weir::sim {

struct ServeRequest {
  SimulationJob job;
  // Everything but `source`.
  AgentSpecification agent;
  // True if each step also tells of every packet received.
  bool packets = false;
};

// Throws ProgramError.
ServeRequest ParseServeRequest(std::string_view text);

// The flow that the agent has: the first RTP flow "under_test". Throws ProgramError when there is none.
size_t AgentFlowIndex(const Scenario& scenario);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SERVE_SERVE_REQUEST_H_
