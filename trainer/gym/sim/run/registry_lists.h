// `weir-sim --list`: what can be named, for people and scripts.
#ifndef WEIR_TRAINER_GYM_SIM_RUN_REGISTRY_LISTS_H_
#define WEIR_TRAINER_GYM_SIM_RUN_REGISTRY_LISTS_H_

#include <string>

namespace weir::sim {

// Of "controllers" (those that this process runs), "flows" or "presets": a line each, the name first. Throws InputError
// for anything else.
std::string RegistryList(const std::string& what);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_REGISTRY_LISTS_H_
