// The inputs of the controller of an RTP flow, from its scenario.
#ifndef WEIR_SIMULATOR_FLOWS_CONTROLLER_CONTEXT_H_
#define WEIR_SIMULATOR_FLOWS_CONTROLLER_CONTEXT_H_

#include "endpoints/controllers.h"
#include "endpoints/flow.h"

namespace weir::sim {

// The flow's kind must be RTP.
ControllerContext MakeControllerContext(const Flow& flow);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_CONTROLLER_CONTEXT_H_
