// libwebrtc as the stack of a simulation's RTP flows.
#ifndef WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_STACK_H_
#define WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_STACK_H_

#include <memory>

#include "flows/stack.h"

namespace weir::sim {

// Each RTP flow is a call between two PeerConnections, in libwebrtc's simulated time, over the scenario's links; all
// other flows are the simulator's. Calls connect before the scenario's time 0, outside its links. Only one stack may
// exist per process at a time: libwebrtc's simulated clock and random numbers are global.
std::unique_ptr<Stack> MakeVirtualStack(const SimulationJob& job);

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_VIRTUAL_STACK_H_
