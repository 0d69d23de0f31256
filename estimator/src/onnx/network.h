// Weir's evaluator for the networks that `weir export` writes: dense layers, LSTM cells, activations, input scaling and
// the rule, all on one row of float32; and trees. It supports only the operators of trainer/weir_train/model/policy_graph.py, as
// written there. ONNX Runtime runs all other models.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_NETWORK_H_
#define WEIR_ESTIMATOR_SRC_ONNX_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "onnx/model_session.h"
#include "onnx/onnx_model.h"
#include "onnx/onnx_tree.h"

namespace weir::internal {

constexpr size_t kPadding = 8;
constexpr size_t PaddedSize(size_t size) { return (size + kPadding - 1) / kPadding * kPadding; }

// A value among the network's constants or in the session's workspace.
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
    kExp,            // of the `elements` of a, or of all if there are none; the other elements remain 0
    kLog,            // like kExp
    kTanh,           // like kExp
    kSigmoid,        // of all elements of a
    kDense,          // b + sum of weights[k] a[elements[k]]
    kTree,           // the constant from `weights` on to which the `splits` lead, given the elements of a
    kSmallestOfRow,  // the smallest of each `row_size` elements of a
    kLargestOfRow,
  };

  Kind kind = Kind::kCopy;
  Operand a, b;
  Operand out;
  float low = 0;
  float high = 0;
  uint32_t row_size = 0;
  // Offset in the constants. For kDense: for each block of DenseBlockSize(), a row for each element.
  uint32_t weights = 0;
  // Except for kDense, their number is a multiple of kPadding, and some may occur twice.
  std::vector<uint32_t> elements = {};
  std::vector<TreeSplit> splits = {};
};

// Number of outputs of kDense to compute together in registers if `left` padded ones remain. Eight sums hide the
// latency of an addition.
constexpr size_t DenseBlockSize(size_t left) {
  return left >= 8 * kPadding ? 8 * kPadding : left >= 4 * kPadding ? 4 * kPadding : kPadding;
}

// An array of float32 that is aligned to a cache line.
class AlignedFloats {
 public:
  explicit AlignedFloats(size_t size) : lines_((size + kPerLine - 1) / kPerLine) {}

  float* data() { return reinterpret_cast<float*>(lines_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(lines_.data()); }

 private:
  static constexpr size_t kPerLine = 16;
  struct alignas(kPerLine * sizeof(float)) Line {
    float values[kPerLine] = {};
  };

  std::vector<Line> lines_;
};

// The parts of a network.
struct NetworkPlan {
  // All in the workspace.
  std::vector<Operand> inputs, outputs;
  std::vector<NetworkStep> steps;
  std::vector<float> constants;
  size_t workspace_size = 0;
};

// `model` has passed FindOnnxObjection(). The error names the part that is not supported.
Result<NetworkPlan> PlanNetwork(const OnnxModel& model);

class Network final : public ModelEvaluator {
 public:
  explicit Network(NetworkPlan plan);

  Result<std::unique_ptr<ModelSession>> MakeSession() const override;
  bool RunTogether(std::span<ModelSession* const> sessions) const override;

 private:
  class Session;

  NetworkPlan plan_;
  AlignedFloats constants_;
};

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_NETWORK_H_
