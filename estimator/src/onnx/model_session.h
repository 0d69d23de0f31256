// The interface to the evaluator of a model: Weir's own, or ONNX Runtime.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_MODEL_SESSION_H_
#define WEIR_ESTIMATOR_SRC_ONNX_MODEL_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weir/result.h"

namespace weir::internal {

// An input or output as the model declares it. A dimension of -1 is free.
struct TensorInfo {
  std::string name;
  bool is_float32 = false;
  std::vector<int64_t> shape;
};

// Policies are small; this keeps a hostile shape from asking for gigabytes.
inline constexpr int64_t kMaxTensorElements = 1 << 20;

// How many elements a tensor has in a session, where free dimensions become 1; the error when that is too many.
inline Result<size_t> TensorElements(const TensorInfo& info) {
  int64_t elements = 1;
  for (const int64_t size : info.shape) {
    const int64_t dimension = size < 0 ? 1 : size;
    if (dimension > kMaxTensorElements) return Error{"'" + info.name + "' is too large"};
    elements *= dimension;
    if (elements > kMaxTensorElements) return Error{"'" + info.name + "' is too large"};
  }
  return static_cast<size_t>(elements);
}

// The tensors of one user of a model, and its computation.
class ModelSession {
 public:
  virtual ~ModelSession() = default;

  // The elements of the tensors, in the order of the model's. Inputs start at zero.
  virtual std::span<float> input(size_t index) = 0;
  virtual std::span<const float> output(size_t index) const = 0;
  // Computes the outputs from the inputs; nothing when that worked.
  virtual std::optional<Error> Run() = 0;
};

// More together read weights hardly less often, and delay the first of them.
inline constexpr size_t kMaxTogether = 64;

// A model's operators and weights; any number of sessions, on any threads, share them.
class ModelEvaluator {
 public:
  virtual ~ModelEvaluator() = default;

  virtual const std::vector<TensorInfo>& inputs() const = 0;
  virtual const std::vector<TensorInfo>& outputs() const = 0;
  // The session must not outlive the evaluator.
  virtual Result<std::unique_ptr<ModelSession>> MakeSession() const = 0;
  // Computes sessions of this evaluator, at most kMaxTogether, with the results of ModelSession::Run(); false where it
  // can only compute them one by one, and has done nothing.
  virtual bool RunTogether(std::span<ModelSession* const>) const { return false; }
};

// --- ONNX Runtime, through its C API: a model is loaded from memory, on one thread of the CPU.

// Loads it; the error is ONNX Runtime's, or that there is none. `model` has passed FindOnnxObjection() and need not
// outlive the call.
Result<std::unique_ptr<ModelEvaluator>> LoadInOnnxRuntime(std::span<const std::byte> model);

// The version of the ONNX Runtime library that is in use, such as "1.31.1"; empty when there is none.
const char* OnnxRuntimeVersion();

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_MODEL_SESSION_H_
