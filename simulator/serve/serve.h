// `weir-sim serve`: an environment for an agent outside this process, in binary frames.
#ifndef WEIR_SIMULATOR_SERVE_SERVE_H_
#define WEIR_SIMULATOR_SERVE_SERVE_H_

#include <cstddef>
#include <string_view>

#include "endpoints/agent_controller.h"
#include "endpoints/simulation_job.h"
#include "flows/stack.h"

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

// Answers requests from `input_fd` on `output_fd` until a request to quit or the input ends between two frames (true),
// or until either side breaks in the middle of a frame (false). See simulator/README.md for the frames.
bool Serve(int input_fd, int output_fd, const MakeStack& make_stack = MakeModelStack);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SERVE_SERVE_H_
