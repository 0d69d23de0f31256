// A controller whose decisions an agent outside this process takes, with the estimator's own statistics, features and
// action mapping.
#ifndef WEIR_SIMULATOR_ENDPOINTS_AGENT_CONTROLLER_H_
#define WEIR_SIMULATOR_ENDPOINTS_AGENT_CONTROLLER_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
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

// Decides at its start, on an observation of zeros, and after every interval while it is active.
// An action that the mapping refuses leaves the rate in force. As with a policy, that rate also stays while an action
// is delayed, and an action that is delayed by more than an interval is dropped and a fault.
class AgentController final : public ReceiverController {
 public:
  // `delay` draws that of an action; null: none.
  AgentController(const AgentSpecification& specification, std::function<TimeDelta()> delay)
      : specification_(specification),
        delay_(std::move(delay)),
        history_(specification.features),
        observation_(specification.features.size()) {}

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
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    ReceiverControlUpdate update;
    if (!waiting_ && !Ask(now)) return update;
    if (now < std::min(action_due_, latest_)) {
      update.source = TargetSource::kUndecided;
      return update;
    }
    waiting_ = false;
    if (now >= action_due_ && now <= latest_) Act(update);
    Ask(now);
    return update;
  }
  Timestamp next_timeout() const override { return waiting_ ? std::min(action_due_, latest_) : timer_.due(); }

  // Ends the interval early; the observation is that of its end. Zeros before the start.
  std::span<const float> Observe(Timestamp now) {
    if (interval_start_.IsFinite() && now > interval_start_) history_.Add(accumulator_.Take(now, target_));
    interval_start_ = now;
    history_.Write(observation_);
    return observation_;
  }

 private:
  // False when no decision is due.
  bool Ask(Timestamp now) {
    if (!timer_.Take(now)) return false;
    action_ = specification_.source->Decide(Observe(now));
    action_due_ = now + (delay_ ? delay_() : TimeDelta::Zero());
    latest_ = now + specification_.interval;
    waiting_ = true;
    return true;
  }
  void Act(ReceiverControlUpdate& update) {
    DataRate target = target_;
    if (action_) target = specification_.action.Apply(*action_, target_).value_or(target_);
    target = std::clamp(target, constraints_.min_rate, constraints_.max_rate);
    update.target_rate = target;
  }

  const AgentSpecification specification_;
  const std::function<TimeDelta()> delay_;
  TargetRateConstraints constraints_;
  IntervalAccumulator accumulator_;
  FeatureHistory history_;
  std::vector<float> observation_;
  DataRate target_ = DataRate::Zero();
  Timestamp interval_start_ = Timestamp::MinusInfinity();
  DecisionTimer timer_;
  // From a decision until its action is in force, or dropped.
  bool waiting_ = false;
  std::optional<std::span<const float>> action_;
  Timestamp action_due_ = Timestamp::PlusInfinity();
  Timestamp latest_ = Timestamp::PlusInfinity();
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_AGENT_CONTROLLER_H_
