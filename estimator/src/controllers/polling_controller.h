// Polling of members and of a fallback: the common part of the two FaultTolerantControllers.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_POLLING_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_POLLING_CONTROLLER_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weir/fallback_controller.h"

namespace weir {

// `controller`, or the ten-line rule, tolerant of sparse packets, when it is null.
std::unique_ptr<ReceiverController> OrRule(std::unique_ptr<ReceiverController> controller);

// `Interface` is FaultTolerantController or derives from it.
template <class Interface>
class PollingController : public Interface {
 public:
  void SetDecisionLimit(DecisionLimit limit) override { decision_limit_ = std::move(limit); }
  const ControllerCounters& counters() const override { return counters_; }
  std::span<const MemberState> members() const override { return members_; }

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
  Timestamp next_timeout() const override {
    Timestamp next = Timestamp::PlusInfinity();
    for (const auto& controller : controllers_) next = std::min(next, controller->next_timeout());
    return next;
  }

 protected:
  explicit PollingController(std::unique_ptr<ReceiverController> fallback) {
    controllers_.push_back(OrRule(std::move(fallback)));
  }

  void AddMember(std::string name, std::unique_ptr<ReceiverController> controller) {
    members_.push_back({.name = std::move(name)});
    controllers_.push_back(std::move(controller));
  }
  const ReceiverController& controller(size_t member) const { return *controllers_[member + 1]; }

  // Polls a member; false when it is not due, or has not decided yet.
  bool Poll(size_t index, bool is_active, Timestamp now) {
    ReceiverController& controller = *controllers_[index + 1];
    if (controller.next_timeout() > now) return false;
    const auto [rate, undecided] = PollTarget(controller, now);
    if (undecided) return false;
    MemberState& member = members_[index];
    if (!rate) {
      ++member.faults;
      counters_.faults += is_active;
      member.decisions_in_a_row = 0;
      member.faults_in_a_row = std::min(member.faults_in_a_row + 1, Interface::kFaultsToFallback);
      if (member.faults_in_a_row == Interface::kFaultsToFallback) member.suspended = true;
      return true;
    }
    member.rate = rate;
    ++member.decisions;
    member.decisions_as_active += is_active;
    counters_.decisions += is_active;
    member.faults_in_a_row = 0;
    member.decisions_in_a_row = std::min(member.decisions_in_a_row + 1, Interface::kDecisionsToRecover);
    if (member.decisions_in_a_row == Interface::kDecisionsToRecover) member.suspended = false;
    return true;
  }

  // True when the fallback decided and the active controller is suspended. Polls the fallback also while the active
  // controller decides: its windows must be warm when it is needed.
  bool PollFallback(Timestamp now) {
    ReceiverController& fallback = *controllers_.front();
    if (fallback.next_timeout() > now) return false;
    const std::optional<DataRate> rate = PollTarget(fallback, now).rate;
    if (rate) fallback_rate_ = rate;
    if (!rate || !this->active().suspended) return false;
    ++counters_.fallback_decisions;
    return true;
  }

  // The active controller's target, or the fallback's in its place.
  ReceiverControlUpdate ActiveUpdate() const {
    const MemberState& active = this->active();
    ReceiverControlUpdate update;
    update.source = TargetSource::kUndecided;
    if (!active.suspended && active.faults_in_a_row > 0) {
      update.source = TargetSource::kHeld;
    } else if (const std::optional<DataRate>& rate = active.suspended ? fallback_rate_ : active.rate) {
      update.source = active.suspended ? TargetSource::kFallback : TargetSource::kController;
      update.target_rate = rate;
    }
    return update;
  }

  std::vector<MemberState> members_;
  ControllerCounters counters_;

 private:
  struct Answer {
    // Nothing: a fault, unless it is undecided.
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

  // The fallback, then the members.
  std::vector<std::unique_ptr<ReceiverController>> controllers_;
  std::optional<DataRate> fallback_rate_;
  DecisionLimit decision_limit_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_POLLING_CONTROLLER_H_
