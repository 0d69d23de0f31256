// Implementation of SupervisedController and PoolController, for one or several controllers.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_SUPERVISOR_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_SUPERVISOR_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "controllers/rule_controller.h"
#include "weir/supervised_controller.h"

namespace weir {

// Returns `controller`, or the ten-line rule that tolerates sparse packets if it is null.
inline std::unique_ptr<ReceiverController> OrRule(std::unique_ptr<ReceiverController> controller) {
  if (controller) return controller;
  return std::make_unique<RuleController>(RuleOptions{.tolerate_sparse_packets = true});
}

// Implements `Base`, a SupervisedController: passes all events to the fallback and the controllers. The derived class
// polls the controllers.
template <class Base>
class Supervisor : public Base {
 public:
  using Base::active;
  using Base::kDecisionsToRecover;
  using Base::kFaultsToFallback;

  void SetDecisionLimit(DecisionLimit limit) final { decision_limit_ = std::move(limit); }
  const ControllerCounters& counters() const final { return counters_; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    for (const auto& controller : controllers_) controller->OnTargetRateConstraints(constraints);
  }
  void OnObjective(const Objective& objective) override {
    for (const auto& controller : controllers_) controller->OnObjective(objective);
  }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    for (const auto& controller : controllers_) controller->OnRoundTripTimeUpdate(update);
  }
  void OnArrival(const Arrival& arrival) override {
    for (const auto& controller : controllers_) controller->OnArrival(arrival);
  }
  void OnTargetApplied(const TargetTransferRate& target) override {
    for (const auto& controller : controllers_) controller->OnTargetApplied(target);
  }
  Timestamp next_timeout() const final {
    Timestamp next = Timestamp::PlusInfinity();
    for (const auto& controller : controllers_) next = std::min(next, controller->next_timeout());
    return next;
  }

 protected:
  // See OrRule() for a null `fallback`.
  explicit Supervisor(std::unique_ptr<ReceiverController> fallback) { Add(OrRule(std::move(fallback))); }

  void Add(std::unique_ptr<ReceiverController> controller) { controllers_.push_back(std::move(controller)); }
  // The index counts from the first controller that was added.
  const ReceiverController& controller(size_t index) const { return *controllers_[index + 1]; }

  // Polls a controller. Returns false if it is not due, or has not decided yet.
  bool Poll(size_t index, ControllerState& state, bool is_active, Timestamp now) {
    ReceiverController& controller = *controllers_[index + 1];
    if (controller.next_timeout() > now) return false;
    const auto [rate, undecided] = PollTarget(controller, now);
    if (undecided) return false;
    if (!rate) {
      ++state.faults;
      counters_.faults += is_active;
      state.decisions_in_a_row = 0;
      state.faults_in_a_row = std::min(state.faults_in_a_row + 1, kFaultsToFallback);
      if (state.faults_in_a_row == kFaultsToFallback) state.suspended = true;
      return true;
    }
    state.rate = rate;
    ++state.decisions;
    counters_.decisions += is_active;
    state.faults_in_a_row = 0;
    state.decisions_in_a_row = std::min(state.decisions_in_a_row + 1, kDecisionsToRecover);
    if (state.decisions_in_a_row == kDecisionsToRecover) state.suspended = false;
    return true;
  }

  // Returns true if the fallback decided and the active controller is suspended. Polls the fallback also while it is
  // not, so that its windows are filled when it is needed.
  bool PollFallback(Timestamp now) {
    ReceiverController& fallback = *controllers_.front();
    if (fallback.next_timeout() > now) return false;
    const std::optional<DataRate> rate = PollTarget(fallback, now).rate;
    if (rate) fallback_rate_ = rate;
    if (!rate || !active().suspended) return false;
    ++counters_.fallback_decisions;
    return true;
  }

  // The active controller's target, or the fallback's in its place.
  ReceiverControlUpdate Update() const {
    const ControllerState& state = active();
    if (!state.suspended && state.faults_in_a_row > 0) return {std::nullopt, TargetSource::kHeld};
    const std::optional<DataRate>& rate = state.suspended ? fallback_rate_ : state.rate;
    if (!rate) return {std::nullopt, TargetSource::kUndecided};
    return {rate, state.suspended ? TargetSource::kFallback : TargetSource::kController};
  }

 private:
  struct Answer {
    // If missing, the answer is a fault unless it is undecided.
    std::optional<DataRate> rate = std::nullopt;
    bool undecided = false;
  };

  // The answer of a controller that is due.
  Answer PollTarget(ReceiverController& controller, Timestamp now) {
    const auto& [clock, longest] = decision_limit_;
    const Timestamp polled_at = clock ? clock() : now;
    const ReceiverControlUpdate update = controller.OnTimeout(now);
    if (clock && clock() - polled_at > longest) {
      ++counters_.late_decisions;
      return {};
    }
    if (!update.target_rate) return {.undecided = update.source == TargetSource::kUndecided};
    const bool is_valid = update.target_rate->IsFinite() && *update.target_rate > DataRate::Zero();
    return {.rate = is_valid ? update.target_rate : std::nullopt};
  }

  // The fallback, then the added controllers.
  std::vector<std::unique_ptr<ReceiverController>> controllers_;
  std::optional<DataRate> fallback_rate_;
  ControllerCounters counters_;
  DecisionLimit decision_limit_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_SUPERVISOR_H_
