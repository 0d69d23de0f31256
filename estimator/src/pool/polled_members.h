// Polling of a pool's members and its fallback.
#ifndef WEIR_ESTIMATOR_SRC_POOL_POLLED_MEMBERS_H_
#define WEIR_ESTIMATOR_SRC_POOL_POLLED_MEMBERS_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weir/pool_controller.h"

namespace weir {

class PolledMembers {
 public:
  explicit PolledMembers(std::unique_ptr<ReceiverController> fallback) { controllers_.push_back(std::move(fallback)); }

  void Add(std::string name, std::unique_ptr<ReceiverController> controller) {
    states_.push_back({.name = std::move(name)});
    controllers_.push_back(std::move(controller));
  }

  std::span<MemberState> states() { return states_; }
  std::span<const MemberState> states() const { return states_; }
  const ReceiverController& controller(size_t member) const { return *controllers_[member + 1]; }
  ControllerCounters& counters() { return counters_; }
  const ControllerCounters& counters() const { return counters_; }
  void SetDecisionLimit(DecisionLimit limit) { decision_limit_ = std::move(limit); }

  // The fallback and all members.
  template <class Function>
  void ForEach(Function function) {
    for (const auto& controller : controllers_) function(*controller);
  }
  Timestamp next_timeout() const {
    Timestamp next = Timestamp::PlusInfinity();
    for (const auto& controller : controllers_) next = std::min(next, controller->next_timeout());
    return next;
  }

  // Polls a member; false when it is not due, or has not decided yet.
  bool Poll(size_t index, bool is_active, Timestamp now) {
    ReceiverController& controller = *controllers_[index + 1];
    if (controller.next_timeout() > now) return false;
    const auto [rate, undecided] = PollTarget(controller, now);
    if (undecided) return false;
    MemberState& member = states_[index];
    if (!rate) {
      ++member.faults;
      counters_.faults += is_active;
      member.decisions_in_a_row = 0;
      member.faults_in_a_row = std::min(member.faults_in_a_row + 1, PoolController::kFaultsToFallback);
      if (member.faults_in_a_row == PoolController::kFaultsToFallback) member.suspended = true;
      return true;
    }
    member.rate = rate;
    ++member.decisions;
    member.decisions_as_active += is_active;
    counters_.decisions += is_active;
    member.faults_in_a_row = 0;
    member.decisions_in_a_row = std::min(member.decisions_in_a_row + 1, PoolController::kDecisionsToRecover);
    if (member.decisions_in_a_row == PoolController::kDecisionsToRecover) member.suspended = false;
    return true;
  }

  // True when the fallback decided and the active controller is suspended. Polls the fallback also while the active
  // controller decides: its windows must be warm when it is needed.
  bool PollFallback(const MemberState& active, Timestamp now) {
    ReceiverController& fallback = *controllers_.front();
    if (fallback.next_timeout() > now) return false;
    const std::optional<DataRate> rate = PollTarget(fallback, now).rate;
    if (rate) fallback_rate_ = rate;
    if (!rate || !active.suspended) return false;
    ++counters_.fallback_decisions;
    return true;
  }

  // The active controller's target, or the fallback's in its place.
  ReceiverControlUpdate UpdateOf(const MemberState& active) const {
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
  std::vector<MemberState> states_;
  std::optional<DataRate> fallback_rate_;
  ControllerCounters counters_;
  DecisionLimit decision_limit_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POOL_POLLED_MEMBERS_H_
