// The learned rate controller: arrivals, interval statistics, features, policy, action, rate. Receiver's side; named
// "weir".
#ifndef WEIR_ESTIMATOR_SRC_POLICY_POLICY_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_POLICY_POLICY_CONTROLLER_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "arrival/interval_accumulator.h"
#include "controllers/decision_timer.h"
#include "policy/mmsys_features.h"
#include "policy/policy_agent.h"
#include "weir/controllers.h"
#include "weir/network_controller.h"

namespace weir {

// Decides once per interval of its model. A decision that fails, or that takes longer than one interval, is answered
// with no target, which the host takes as a fault. While an answer is out the rate in force stays. The packet path
// allocates nothing; a decision allocates only what ONNX Runtime does inside.
class PolicyController final : public ReceiverController {
 public:
  explicit PolicyController(std::unique_ptr<Policy> policy)
      : PolicyController(std::make_unique<InlineExecutor>(std::move(policy))) {}
  explicit PolicyController(std::unique_ptr<PolicyExecutor> executor);

  std::string_view name() const override { return "weir"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override { agent_.SetObjective(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(const TargetTransferRate& target) override {
    target_ = target.target_rate;
    loss_ratio_at_any_rate_ = target.loss_ratio_at_any_rate;
  }
  ReceiverControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return agent_.waiting() ? poll_at_ : timer_.due(); }

  const ModelDescription& description() const { return agent_.description(); }
  // The observation of an interval that ends early, at `now`, for a host that makes no more decisions; zeros before the
  // start.
  std::span<const float> ObservationAt(Timestamp now);

 private:
  void EndInterval(Timestamp now);
  void Decide(Timestamp now);

  PolicyAgent agent_;
  IntervalAccumulator accumulator_;
  // For MMSys 2024 models, in the accumulator's place.
  std::optional<MmsysFeatures> mmsys_features_;
  TargetRateConstraints constraints_;
  DataRate target_ = DataRate::Zero();
  double loss_ratio_at_any_rate_ = 0;
  Timestamp interval_end_ = Timestamp::MinusInfinity();
  DecisionTimer timer_;
  // While the agent waits for an answer.
  Timestamp poll_at_ = Timestamp::PlusInfinity();
};

// As those of weir/controllers.h, with the executors of `make_executor`.
std::unique_ptr<ReceiverController> MakePolicyController(std::shared_ptr<const PolicyModel> model,
                                                         const PolicyExecutorFactory& make_executor);
Result<std::unique_ptr<ReceiverController>> MakeController(const std::string& name, const ModelSource& models,
                                                           DataRate fixed_rate,
                                                           const PolicyExecutorFactory& make_executor);

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_POLICY_CONTROLLER_H_
