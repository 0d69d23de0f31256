// The versions of what a result depends on.
#ifndef WEIR_TRAINER_GYM_SIM_RUN_VERSIONS_H_
#define WEIR_TRAINER_GYM_SIM_RUN_VERSIONS_H_

#include <nlohmann/json.hpp>

namespace weir::sim {

// {"weir": ..., "ns3": ..., "libwebrtc": ..., "onnxruntime": ...}
nlohmann::ordered_json Versions();

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_VERSIONS_H_
