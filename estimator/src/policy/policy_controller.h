// The learned rate controller at the receiver, "weir": turns arrivals into interval statistics, features, a policy's
// action and a rate.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_POLICY_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_POLICY_POLICY_CONTROLLER_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrival/interval_accumulator.h"
#include "controllers/decision_timer.h"
#include "policy/feature_history.h"
#include "policy/mmsys_features.h"
#include "policy/policy_executor.h"
#include "weir/controllers.h"
#include "weir/network_controller.h"
#include "weir/objective.h"

namespace weir {

// Decides once per interval of its model. A decision that fails, or takes longer than one interval, results in a
// missing target, which counts as a fault. While an answer is pending the rate in force stays. The packet path
// allocates nothing, and a decision allocates only inside ONNX Runtime.
class PolicyController final : public ReceiverController {
 public:
  explicit PolicyController(std::unique_ptr<Policy> policy)
      : PolicyController(std::make_unique<InlineExecutor>(std::move(policy))) {}
  explicit PolicyController(std::unique_ptr<PolicyExecutor> executor);

  std::string_view name() const override { return "weir"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override { objective_ = objective; }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(const TargetTransferRate& target) override {
    target_ = target.target_rate;
    loss_ratio_at_any_rate_ = target.loss_ratio_at_any_rate;
  }
  ReceiverControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return waiting_ ? poll_at_ : timer_.due(); }

  const ModelDescription& description() const { return executor_->description(); }
  // Returns the observation of an interval that ends early, at `now`, for a host that makes no more decisions. All
  // zeros before the start.
  std::span<const float> ObservationAt(Timestamp now);

 private:
  // The observation of the last interval. All zeros before the first.
  std::span<const float> observation() const { return history_ ? history_->observation() : mmsys_observation_; }
  void EndInterval(Timestamp now);
  // Clears the observations and the recurrent state, and drops a pending answer.
  void Reset();
  // Ends the interval and submits its observation. Drops a pending answer.
  void Decide(Timestamp now);
  // Returns the resulting rate, within the model's bounds. Returns nothing while the answer is pending, and on a fault:
  // the policy failed, its action is invalid, or its answer took more than an interval.
  std::optional<DataRate> TakeAnswer(Timestamp now);

  std::unique_ptr<PolicyExecutor> executor_;
  // For models of the format kWeir1.
  IntervalAccumulator accumulator_;
  std::optional<FeatureHistory> history_;
  // For models of the format kMmsys2024.
  std::optional<MmsysFeatures> mmsys_features_;
  std::vector<float> mmsys_observation_;

  Objective objective_;
  TargetRateConstraints constraints_;
  DataRate target_ = DataRate::Zero();
  double loss_ratio_at_any_rate_ = 0;
  Timestamp interval_end_ = Timestamp::MinusInfinity();
  DecisionTimer timer_;
  // True while an answer is pending.
  bool waiting_ = false;
  Timestamp submitted_at_ = Timestamp::MinusInfinity();
  Timestamp poll_at_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_POLICY_CONTROLLER_H_
