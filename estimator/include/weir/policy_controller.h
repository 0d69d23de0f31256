// The learned rate controller at the receiver, "weir": turns arrivals into interval statistics, features, a policy's
// action and a rate.
#ifndef WEIR_POLICY_CONTROLLER_H_
#define WEIR_POLICY_CONTROLLER_H_

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "weir/decision_timer.h"
#include "weir/model_description.h"
#include "weir/network_controller.h"
#include "weir/objective.h"
#include "weir/policy_executor.h"

namespace weir {

class Policy;

// Decides once per interval of its model. The target stays in intervals without packets that the sender's earlier gaps
// predict, as between the frames of a shared screen; they are in no observation, since they contain nothing about the
// path. A decision that fails, or takes longer than one interval, results in a missing target, which counts as a fault.
// While an answer is pending the rate in force stays. The packet path allocates nothing, and a decision allocates only
// inside ONNX Runtime. A host with a PolicyModel needs only MakePolicyController() (weir/controllers.h); this class is
// for a host with its own PolicyExecutor.
class PolicyController final : public ReceiverController {
 public:
  // Computes on the caller's thread.
  explicit PolicyController(std::unique_ptr<Policy> policy);
  // `executor` is not null.
  explicit PolicyController(std::unique_ptr<PolicyExecutor> executor);
  ~PolicyController() override;

  std::string_view name() const override { return "weir"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override { objective_ = objective; }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(const TargetTransferRate& target) override {
    target_ = target.target_rate;
    loss_ratio_at_any_rate_ = target.loss_ratio_at_any_rate;
    has_queue_to_yield_ = target.has_queue_to_yield;
  }
  ReceiverControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return waiting_ ? poll_at_ : timer_.due(); }

  const ModelDescription& description() const { return executor_->description(); }
  // Returns the observation of an interval that ends early, at `now`, for a host that makes no more decisions. All
  // zeros before the start. Valid until the next call.
  std::span<const float> ObservationAt(Timestamp now);

 private:
  // Turns arrivals into the observations of the model's format.
  class Observer;

  void EndInterval(Timestamp now);
  // Clears the observations and the recurrent state, and drops a pending answer.
  void Reset();
  // Ends the interval and submits its observation, unless the sender made a gap. Drops a pending answer.
  void Decide(Timestamp now);
  // Returns the resulting rate, within the model's bounds. Returns nothing while the answer is pending, and on a fault:
  // the policy failed, its action is invalid, or its answer took more than an interval.
  std::optional<DataRate> TakeAnswer(Timestamp now);

  std::unique_ptr<PolicyExecutor> executor_;
  std::unique_ptr<Observer> observer_;

  Objective objective_;
  TargetRateConstraints constraints_;
  DataRate target_ = DataRate::Zero();
  double loss_ratio_at_any_rate_ = 0;
  bool has_queue_to_yield_ = false;
  Timestamp interval_end_ = Timestamp::MinusInfinity();
  DecisionTimer timer_;
  // True while an answer is pending.
  bool waiting_ = false;
  Timestamp submitted_at_ = Timestamp::MinusInfinity();
  Timestamp poll_at_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_POLICY_CONTROLLER_H_
