// The learned rate controller: arrivals, interval statistics, features, policy, action, rate. Receiver's side; named
// "weir".
#ifndef WEIR_POLICY_POLICY_CONTROLLER_H_
#define WEIR_POLICY_POLICY_CONTROLLER_H_

#include <memory>
#include <optional>

#include "arrival/interval_accumulator.h"
#include "weir/controllers/decision_timer.h"
#include "weir/policy/mmsys_features.h"
#include "weir/policy/policy_agent.h"
#include "weir/rate_controller.h"

namespace weir {

// Decides once per interval of its model. A decision that fails is counted and answered with no target, which the host
// takes as a fault. The packet path allocates nothing; a decision allocates only what ONNX Runtime does inside.
class PolicyController final : public RateController {
 public:
  explicit PolicyController(std::unique_ptr<Policy> policy);

  std::string_view name() const override { return "weir"; }
  Side side() const override { return Side::kReceiver; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) override;
  void OnObjective(const Objective& objective) override { agent_.SetObjective(objective); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(DataRate target, Timestamp now) override;
  NetworkControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return timer_.due(); }
  double share_outside_training() const override { return agent_.share_outside_training(); }
  int path_kind() const override { return agent_.path_kind(); }

  const ModelDescription& description() const { return agent_.description(); }
  const PolicyFaultCounters& faults() const { return agent_.faults(); }

 private:
  std::optional<DataRate> Decide(Timestamp now);

  PolicyAgent agent_;
  IntervalAccumulator accumulator_;
  // For MMSys 2024 models, in the accumulator's place.
  std::optional<MmsysFeatures> mmsys_features_;
  TargetRateConstraints constraints_;
  DataRate target_ = DataRate::Zero();
  Timestamp last_decision_ = Timestamp::MinusInfinity();
  DecisionTimer timer_;
};

}  // namespace weir

#endif  // WEIR_POLICY_POLICY_CONTROLLER_H_
