// Replaces onnx_session.cc in a library that is built without ONNX Runtime.
#include "onnx/model_session.h"
#include "weir/controllers.h"

namespace weir {

Result<std::unique_ptr<internal::ModelEvaluator>> internal::LoadInOnnxRuntime(std::span<const std::byte>,
                                                                              const OnnxModel&) {
  return Error{"this library was built without it (CMake's option WEIR_ONNXRUNTIME)"};
}

const char* OnnxRuntimeVersion() { return ""; }

}  // namespace weir
