#include "run/versions.h"

#include "policy/policy.h"

namespace weir::sim {

nlohmann::ordered_json Versions() {
  // libtgowt has no version number; this is when it was branched from libwebrtc.
  return {{"weir", WEIR_VERSION},
          {"ns3", WEIR_NS3_VERSION},
          {"libwebrtc", "2023-01"},
          {"onnxruntime", OnnxRuntimeVersion()}};
}

}  // namespace weir::sim
