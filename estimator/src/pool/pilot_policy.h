// The policies that the library has for PolyCC's pilot-copilot filter.
#ifndef WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_
#define WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_

#include "weir/pool_controller.h"

namespace weir {

// Null for kFixed and kUser.
PilotPolicy MakePilotPolicy(PilotPolicyKind kind);

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_
