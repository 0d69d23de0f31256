// A model whose decisions a test blocks.
#ifndef WEIR_TESTS_ESTIMATOR_GATED_MODEL_H_
#define WEIR_TESTS_ESTIMATOR_GATED_MODEL_H_

#include <cstddef>
#include <memory>
#include <semaphore>
#include <span>
#include <utility>
#include <vector>

#include "onnx/model_session.h"
#include "onnx/onnx_inspection.h"
#include "onnx/onnx_model.h"
#include "policy/policy.h"

namespace weir {

// Blocks the worker's thread before it computes.
struct Gate {
  std::counting_semaphore<> arrived{0};
  std::counting_semaphore<> open{0};
  // How many decisions are computed together each time. Read after `arrived`.
  std::vector<size_t> together;
};

// Blocks at the gate, then computes like `evaluator`.
class GatedNetwork final : public internal::ModelEvaluator {
 public:
  GatedNetwork(std::unique_ptr<internal::ModelEvaluator> evaluator, std::shared_ptr<Gate> gate)
      : evaluator_(std::move(evaluator)), gate_(std::move(gate)) {}

  Result<std::unique_ptr<internal::ModelSession>> MakeSession() const override { return evaluator_->MakeSession(); }
  bool RunTogether(std::span<internal::ModelSession* const> sessions) const override {
    gate_->together.push_back(sessions.size());
    gate_->arrived.release();
    gate_->open.acquire();
    return evaluator_->RunTogether(sessions);
  }

 private:
  const std::unique_ptr<internal::ModelEvaluator> evaluator_;
  const std::shared_ptr<Gate> gate_;
};

// `bytes` must be a model that Weir computes by itself. With `needs_onnxruntime` it claims otherwise.
inline std::shared_ptr<const PolicyModel> MakeGatedModel(std::span<const std::byte> bytes,
                                                         const std::shared_ptr<Gate>& gate,
                                                         bool needs_onnxruntime = false) {
  auto onnx = internal::ParseOnnxModel(bytes);
  static_cast<void>(internal::FindOnnxObjection(onnx.value()));
  auto loaded = std::make_unique<internal::LoadedModel>();
  loaded->needs_onnxruntime = needs_onnxruntime;
  loaded->evaluator = std::make_unique<GatedNetwork>(std::move(internal::MakeDenseNetwork(onnx.value()).value()), gate);
  loaded->contract = internal::ReadModelContract(onnx.value()).value();
  return Policy::MakeModel(std::move(loaded));
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_GATED_MODEL_H_
