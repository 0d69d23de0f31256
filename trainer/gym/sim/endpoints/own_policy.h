// A policy model of the user's own, which runs under a name of its own.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_OWN_POLICY_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_OWN_POLICY_H_

#include <memory>
#include <string>

#include "endpoints/model_file.h"

namespace weir::sim {

struct OwnPolicy {
  std::string model_path;
  // What lies there; there when a flow is made.
  std::shared_ptr<ModelFile> model;
  // Without it the model is measured bare: only finiteness and bounds are kept.
  bool guard = true;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_OWN_POLICY_H_
