// A model that can be run, and one user of it.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_LOADED_MODEL_H_
#define WEIR_ESTIMATOR_SRC_POLICY_LOADED_MODEL_H_

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "onnx/model_session.h"
#include "policy/model_reader.h"
#include "policy/policy.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir::internal {

struct LoadedModel {
  std::unique_ptr<const ModelEvaluator> evaluator;
  ModelContract contract;
  bool needs_onnxruntime = false;
};

class ModelRunner {
 public:
  // `model` must outlive it.
  explicit ModelRunner(const LoadedModel& model);

  // See Policy.
  PolicyFault Run(std::span<const float> observation, const Objective& objective, std::span<float> action);
  void ResetState();
  // See Policy.
  int path_kind() const { return path_kind_; }
  // The first recurrent state.
  std::span<float> state() { return session_->input(model_.contract.layout.states.front().input); }
  // Cause of a kRuntimeError.
  const std::string& error() const { return error_; }

 private:
  PolicyFault Fault(PolicyFault fault);

  const LoadedModel& model_;
  // Null when it could not be made; `error_` then has the reason.
  std::unique_ptr<ModelSession> session_;
  int path_kind_ = 0;
  std::string error_;
};

// Runs the model on zeros, saturated and random observations and its golden vectors, each decision in `time_limit` at
// most; the error, or nothing when all is well.
std::optional<Error> CheckLoadedModel(const LoadedModel& model, TimeDelta time_limit);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_LOADED_MODEL_H_
