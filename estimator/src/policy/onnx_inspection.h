// Reads the wire format of an ONNX file before ONNX Runtime sees it, and refuses what an untrusted policy model has no
// use for: references to other files, operators from outside the standard, loops, randomness. Bounded in depth and in
// work by the size of the input.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_ONNX_INSPECTION_H_
#define WEIR_ESTIMATOR_SRC_POLICY_ONNX_INSPECTION_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace weir::internal {

// Nothing when `bytes` may be handed to ONNX Runtime, else the reason why not.
std::optional<std::string> FindOnnxObjection(std::span<const std::byte> bytes);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_ONNX_INSPECTION_H_
