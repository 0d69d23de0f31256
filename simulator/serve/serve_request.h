// The request that starts an episode of `weir-sim serve`.
#ifndef WEIR_SIMULATOR_SERVE_SERVE_REQUEST_H_
#define WEIR_SIMULATOR_SERVE_SERVE_REQUEST_H_

#include <cstddef>
#include <string_view>

#include "endpoints/agent.h"
#include "endpoints/simulation_job.h"

namespace weir::sim {

struct ServeRequest {
  SimulationJob job;
  // Complete except for `source`.
  AgentSpecification agent;
  // True if each step also reports every packet received.
  bool packets = false;
};

// Throws ProgramError.
ServeRequest ParseServeRequest(std::string_view text);

// The index of the agent's flow: the first RTP flow "under_test". Throws ProgramError if there is none.
size_t AgentFlowIndex(const Scenario& scenario);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SERVE_SERVE_REQUEST_H_
