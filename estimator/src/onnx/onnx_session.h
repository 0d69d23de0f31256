// A model in ONNX Runtime, through its C API: loaded from memory, on one thread of the CPU.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_ONNX_SESSION_H_
#define WEIR_ESTIMATOR_SRC_ONNX_ONNX_SESSION_H_

#include <cstddef>
#include <memory>
#include <span>

#include "onnx/model_session.h"
#include "weir/result.h"

namespace weir::internal {

// Loads it; the error is ONNX Runtime's, or that there is none. `model` has passed FindOnnxObjection() and need not
// outlive the call.
Result<std::unique_ptr<ModelEvaluator>> LoadInOnnxRuntime(std::span<const std::byte> model);

// The version of the ONNX Runtime library that is in use, such as "1.31.1"; empty when there is none.
const char* OnnxRuntimeVersion();

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_ONNX_SESSION_H_
