// The steps of Weir's own evaluator, for the dense networks that `weir export` writes: input scaling, the rule, dense
// layers and their activations, on one row of float32. dense_network_plan.cc makes them from a model, dense_network.cc
// runs them.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_DENSE_NETWORK_H_
#define WEIR_ESTIMATOR_SRC_ONNX_DENSE_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "onnx/onnx_model.h"
#include "weir/result.h"

namespace weir::internal {

// Every tensor begins at a multiple of kPadding floats, so that steps may read and write whole vectors.
constexpr size_t kPadding = 8;
constexpr size_t PaddedSize(size_t size) { return (size + kPadding - 1) / kPadding * kPadding; }

// Number of outputs of a dense layer to compute together in registers if `left` padded ones remain. Eight vectors of
// sums hide the latency of an addition.
constexpr size_t DenseBlockSize(size_t left) { return left >= 8 * kPadding ? 8 * kPadding : kPadding; }

// A tensor among the constants or in a session's workspace.
struct Operand {
  bool is_constant = false;
  uint32_t offset = 0;
  uint32_t size = 0;
};

struct NetworkStep {
  enum class Kind : uint8_t {
    kAdd,            // a + b
    kMultiply,       // a b
    kLarger,         // the larger of a and b
    kClip,           // a, at least `low` and at most `high`
    kCopy,           // a
    kExp,            // of a
    kLog,            // of a
    kTanh,           // of a
    kDense,          // b + a W
    kSmallestOfRow,  // the smallest of each `row_size` elements of a
    kLargestOfRow,
  };

  Kind kind = Kind::kCopy;
  Operand a = {}, b = {};
  Operand out = {};
  float low = 0;
  float high = 0;
  uint32_t row_size = 0;
  // W of kDense among the constants: for each block of DenseBlockSize() outputs, a row for each element of a.
  Operand weights = {};
};

// The parts of a network. Inputs and outputs are in the workspace, in the order of the model.
struct NetworkPlan {
  std::vector<Operand> inputs, outputs;
  std::vector<NetworkStep> steps;
  std::vector<float> constants;
  size_t workspace_size = 0;
};

// `model` has passed FindOnnxObjection(). The error names the part that a dense network does not have.
Result<NetworkPlan> PlanNetwork(const OnnxModel& model);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_DENSE_NETWORK_H_
