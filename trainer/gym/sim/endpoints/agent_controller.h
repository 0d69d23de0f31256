// A controller whose decisions an agent outside this process takes, with the estimator's own statistics, features and
// action mapping.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_AGENT_CONTROLLER_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_AGENT_CONTROLLER_H_

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "arrival/interval_accumulator.h"
#include "controllers/decision_timer.h"
#include "policy/action.h"
#include "policy/feature_history.h"
#include "weir/network_controller.h"

namespace weir::sim {

class DecisionSource {
 public:
  virtual ~DecisionSource() = default;
  // The action for this observation; nothing when there will be no more decisions. The span lives until the next call.
  virtual std::optional<std::span<const float>> Decide(std::span<const float> observation) = 0;
};

struct AgentSpecification {
  // It decides in a SendSideEstimator, from transport feedback.
  bool at_sender = false;
  TimeDelta interval = TimeDelta::Millis(200);
  FeatureSpecification features;
  ActionMapping action;
  DecisionSource* source = nullptr;
};

// Decides at its start, on an observation of zeros, and after every interval of the estimator that it is the pilot of.
// An action that the mapping refuses leaves the rate in force.
class AgentController final : public ReceiverController {
 public:
  explicit AgentController(const AgentSpecification& specification)
      : specification_(specification), history_(specification.features), observation_(specification.features.size()) {}

  std::string_view name() const override { return "agent"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    const Timestamp now = constraints.at_time;
    constraints_ = constraints;
    if (interval_start_.IsFinite()) return;
    accumulator_.Start(now);
    interval_start_ = now;
    // The first decision is due at once.
    timer_.Start(now - specification_.interval, specification_.interval);
    target_ = constraints.start_rate;
  }
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    accumulator_.OnRoundTripTime(update.round_trip_time);
  }
  void OnArrival(const Arrival& arrival) override { accumulator_.OnArrival(arrival); }
  void OnTargetApplied(const TargetTransferRate& target) override { target_ = target.target_rate; }
  NetworkControlUpdate OnTimeout(Timestamp now) override {
    NetworkControlUpdate update;
    if (!timer_.Take(now)) return update;
    DataRate target = target_;
    const std::optional<std::span<const float>> action = specification_.source->Decide(Observe(now));
    if (action) target = specification_.action.Apply(*action, target_).value_or(target_);
    target = std::clamp(target, constraints_.min_rate, constraints_.max_rate);
    update.target_rate = TargetTransferRate{.at_time = now, .target_rate = target};
    return update;
  }
  Timestamp next_timeout() const override { return timer_.due(); }

  // Ends the interval early; the observation is that of its end. Zeros before the start.
  std::span<const float> Observe(Timestamp now) {
    if (interval_start_.IsFinite() && now > interval_start_) history_.Add(accumulator_.Take(now, target_));
    interval_start_ = now;
    history_.Write(observation_);
    return observation_;
  }

 private:
  const AgentSpecification specification_;
  TargetRateConstraints constraints_;
  IntervalAccumulator accumulator_;
  FeatureHistory history_;
  std::vector<float> observation_;
  DataRate target_ = DataRate::Zero();
  Timestamp interval_start_ = Timestamp::MinusInfinity();
  DecisionTimer timer_;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_AGENT_CONTROLLER_H_
