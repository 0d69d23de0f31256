// Looks through an ONNX file before anything is computed, and refuses what an untrusted policy model has no use for:
// operators that are not in onnx_operators.h, and graphs that would need more memory or time than the bounds below,
// from the shapes of all their tensors.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_ONNX_INSPECTION_H_
#define WEIR_ESTIMATOR_SRC_ONNX_ONNX_INSPECTION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/onnx_model.h"

namespace weir::internal {

// Bounds of the computed tensors of one decision; the size of the file bounds the constants.
inline constexpr int64_t kMaxTensorBytes = int64_t{1} << 20;
inline constexpr int64_t kMaxTotalTensorBytes = int64_t{16} << 20;
// Multiply-adds of products, and elements of whatever else; the shipped model has 40,000.
inline constexpr int64_t kMaxOperations = int64_t{1} << 23;

// Nothing when the model may be computed, also by ONNX Runtime, else the reason why not.
std::optional<std::string> FindOnnxObjection(const OnnxModel& model);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_INSPECTION_H_
