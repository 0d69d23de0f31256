// The shipped model, compiled into the program for hosts that cannot open files: in builds with gn, see BUILD.gn, and
// in weir-virtual-call. Other builds find the path of weir.onnx in their package (weir_MODEL, or pkg-config
// --variable=model).
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SHIPPED_MODEL_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SHIPPED_MODEL_H_

#include <cstddef>
#include <span>

namespace weir {

// The bytes of estimator/models/weir.onnx, for PolicyAlone().
std::span<const std::byte> ShippedModel();

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SHIPPED_MODEL_H_
