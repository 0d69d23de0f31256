// In place of onnx_session.cc in a library that is built without ONNX Runtime.
#include "onnx/model_session.h"

namespace weir::internal {

Result<std::unique_ptr<ModelEvaluator>> LoadInOnnxRuntime(std::span<const std::byte>) {
  return Error{"this library was built without ONNX Runtime (CMake's option WEIR_ONNXRUNTIME)"};
}

const char* OnnxRuntimeVersion() { return ""; }

}  // namespace weir::internal
