// The interface to the evaluator of a model: Weir's own, or ONNX Runtime.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_MODEL_SESSION_H_
#define WEIR_ESTIMATOR_SRC_ONNX_MODEL_SESSION_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "onnx/onnx_model.h"
#include "weir/result.h"

namespace weir::internal {

// The tensors of one user of a model, and their computation.
class ModelSession {
 public:
  virtual ~ModelSession() = default;

  // The elements of the tensors, in the order of OnnxModel. Free dimensions are 1. Inputs start at zero.
  virtual std::span<float> input(size_t index) = 0;
  virtual std::span<const float> output(size_t index) const = 0;
  // Computes the outputs from the inputs. Returns the error, if any.
  virtual std::optional<Error> Run() = 0;
};

// More sessions hardly read the weights less often, and delay the first of them.
inline constexpr size_t kMaxTogether = 64;

// A model's operators and weights, shared by any number of sessions on any threads.
class ModelEvaluator {
 public:
  virtual ~ModelEvaluator() = default;

  // The session must not outlive the evaluator.
  virtual Result<std::unique_ptr<ModelSession>> MakeSession() const = 0;
  // Computes at most kMaxTogether sessions of this evaluator, with the same results as ModelSession::Run(). Returns
  // false and does nothing if it can only compute them one by one.
  virtual bool RunTogether(std::span<ModelSession* const>) const { return false; }
};

// Makes Weir's own evaluator. `model` has passed FindOnnxObjection(). The error names the part of the model that the
// dense networks of `weir export` do not have.
Result<std::unique_ptr<ModelEvaluator>> MakeDenseNetwork(const OnnxModel& model);

// --- ONNX Runtime, through its C API: a model is loaded from memory, on one thread of the CPU.

// Loads `bytes`, which need not outlive the call. `model` is their content and has passed FindOnnxObjection(). The
// error is that of ONNX Runtime, or that ONNX Runtime is missing.
Result<std::unique_ptr<ModelEvaluator>> LoadInOnnxRuntime(std::span<const std::byte> bytes, const OnnxModel& model);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_MODEL_SESSION_H_
