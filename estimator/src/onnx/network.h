// Weir's evaluator for the networks that `weir export` writes: dense layers, activations, the scaling of inputs
// and the rule, of one row of float32 each; and trees. It supports only the operators of
// trainer/model/policy_graph.py, as written there; ONNX Runtime runs all other models.
#ifndef WEIR_ESTIMATOR_SRC_ONNX_NETWORK_H_
#define WEIR_ESTIMATOR_SRC_ONNX_NETWORK_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "onnx/model_session.h"
#include "onnx/network_steps.h"
#include "onnx/onnx_model.h"

namespace weir::internal {

// float32 from an address that is a multiple of a cache line.
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

// The parts that a network is made of.
struct NetworkPlan {
  std::vector<TensorInfo> inputs, outputs;
  // Where they are in the workspace.
  std::vector<Operand> input_operands, output_operands;
  std::vector<NetworkStep> steps;
  std::vector<float> constants;
  size_t workspace_size = 0;
};

// The error names what is not supported. The model has passed FindOnnxObjection().
Result<NetworkPlan> PlanNetwork(const OnnxModel& model);

class Network final : public ModelEvaluator {
 public:
  explicit Network(NetworkPlan plan);

  const std::vector<TensorInfo>& inputs() const override { return plan_.inputs; }
  const std::vector<TensorInfo>& outputs() const override { return plan_.outputs; }
  Result<std::unique_ptr<ModelSession>> MakeSession() const override;

 private:
  class Session;

  NetworkPlan plan_;
  AlignedFloats constants_;
};

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_ONNX_NETWORK_H_
