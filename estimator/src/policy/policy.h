// One user of a policy model, with its own recurrent state. It runs on the caller's thread and uses no thread, file or
// clock of its own.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_POLICY_H_
#define WEIR_ESTIMATOR_SRC_POLICY_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "onnx/model_session.h"
#include "policy/model_reader.h"
#include "weir/controllers.h"
#include "weir/objective.h"
#include "weir/policy_executor.h"
#include "weir/result.h"

namespace weir {

class Policy;

// One of several decisions that are computed together. See Policy::Run() for the sizes of the spans.
struct PolicyDecision {
  Policy* policy = nullptr;
  std::span<const float> observation;
  Objective objective;
  std::span<float> action;
  // The result.
  PolicyFault fault = PolicyFault::kNone;
};

class Policy {
 public:
  // Takes microseconds and little memory if Weir itself computes the model.
  explicit Policy(std::shared_ptr<const PolicyModel> model);
  // Makes a policy with a model that is not shared; see PolicyModel::Load().
  static Result<std::unique_ptr<Policy>> Load(std::span<const std::byte> model,
                                              TimeDelta time_limit = PolicyModel::kMaxDecisionTime);

  // Makes a model with this content, unchecked; for tests.
  static std::shared_ptr<const PolicyModel> MakeModel(std::unique_ptr<const internal::LoadedModel> loaded);

  const PolicyModel& model() const { return *model_; }
  const ModelDescription& description() const { return DescriptionOf(*model_); }

  // `observation` has observation_size elements and `action` action_size. After a fault `action` is unchanged and the
  // recurrent state is reset. Allocates nothing, except inside ONNX Runtime.
  PolicyFault Run(std::span<const float> observation, const Objective& objective, std::span<float> action);
  // Computes 0 to kMaxTogether distinct policies of one model, with results bit-identical to Run(). If Weir itself
  // computes the model, it reads the weights once for all of them.
  static void RunTogether(std::span<PolicyDecision> decisions);
  // Sets the recurrent state to zeros, as at the start of a call.
  void ResetState();
  // The first recurrent state. Requires a model that has one.
  std::span<float> state() { return session_->input(layout_.states.front().input); }
  // Cause of a kRuntimeError.
  const std::string& error() const { return error_; }

 private:
  PolicyFault Fault(PolicyFault fault);
  // The parts of Run(): before, during and after the computation of the session.
  PolicyFault Prepare(std::span<const float> observation, const Objective& objective);
  PolicyFault Compute();
  PolicyFault Finish(std::span<float> action);

  const std::shared_ptr<const PolicyModel> model_;
  const internal::ModelLayout& layout_;
  // Null if it could not be made, for the reason in `error_`.
  std::unique_ptr<internal::ModelSession> session_;
  std::string error_;
};

namespace internal {

// The content of a PolicyModel.
struct LoadedModel {
  std::unique_ptr<const ModelEvaluator> evaluator;
  ModelContract contract;
  bool needs_onnxruntime = false;
};

}  // namespace internal
}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_POLICY_H_
