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

// How many elements a tensor has in a session, where free dimensions become 1; the error when that is too many.
Result<size_t> TensorElements(const TensorInfo& info);

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

// A model's operators and weights; any number of sessions, on any threads, share them.
class ModelEvaluator {
 public:
  virtual ~ModelEvaluator() = default;

  virtual const std::vector<TensorInfo>& inputs() const = 0;
  virtual const std::vector<TensorInfo>& outputs() const = 0;
  // The session must not outlive the evaluator.
  virtual Result<std::unique_ptr<ModelSession>> MakeSession() const = 0;
};

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_MODEL_SESSION_H_
