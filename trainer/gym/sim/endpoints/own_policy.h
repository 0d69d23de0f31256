// A policy model of the user's own, which runs under a name of its own.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_OWN_POLICY_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_OWN_POLICY_H_

#include <cstddef>
#include <span>
#include <string>

namespace weir::sim {

struct OwnPolicy {
  // The file's bytes, and its name for messages.
  std::span<const std::byte> model;
  std::string model_path;
  // Without it the model is measured bare: only finiteness and bounds are kept.
  bool guard = true;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_OWN_POLICY_H_
