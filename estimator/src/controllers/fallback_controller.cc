#include "weir/fallback_controller.h"

#include <algorithm>

#include "controllers/rule_controller.h"

namespace weir {
namespace {

std::unique_ptr<ReceiverController> OrRule(std::unique_ptr<ReceiverController> controller) {
  if (controller) return controller;
  return std::make_unique<RuleController>(RuleOptions{.tolerate_sparse_packets = true});
}

}  // namespace

FaultTolerantController::FaultTolerantController(std::unique_ptr<ReceiverController> fallback) {
  controllers_.push_back(OrRule(std::move(fallback)));
}

void FaultTolerantController::AddMember(std::string name, std::unique_ptr<ReceiverController> controller) {
  members_.push_back({.name = std::move(name)});
  controllers_.push_back(std::move(controller));
}

void FaultTolerantController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  for (const auto& controller : controllers_) controller->OnTargetRateConstraints(constraints);
}

void FaultTolerantController::OnObjective(const Objective& objective) {
  for (const auto& controller : controllers_) controller->OnObjective(objective);
}

void FaultTolerantController::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  for (const auto& controller : controllers_) controller->OnRoundTripTimeUpdate(update);
}

void FaultTolerantController::OnArrival(const Arrival& arrival) {
  for (const auto& controller : controllers_) controller->OnArrival(arrival);
}

void FaultTolerantController::OnTargetApplied(const TargetTransferRate& target) {
  for (const auto& controller : controllers_) controller->OnTargetApplied(target);
}

Timestamp FaultTolerantController::next_timeout() const {
  Timestamp next = Timestamp::PlusInfinity();
  for (const auto& controller : controllers_) next = std::min(next, controller->next_timeout());
  return next;
}

// The target of a controller that is due; nothing when it is a fault.
std::optional<DataRate> FaultTolerantController::PollTarget(ReceiverController& controller, Timestamp now,
                                                            int& path_kind) {
  const auto& [clock, longest] = decision_limit_;
  const Timestamp polled_at = clock ? clock() : now;
  const NetworkControlUpdate update = controller.OnTimeout(now);
  path_kind = update.path_kind;
  if (clock && clock() - polled_at > longest) {
    ++counters_.late_decisions;
    return std::nullopt;
  }
  if (!update.target_rate) return std::nullopt;
  const DataRate rate = update.target_rate->target_rate;
  return rate.IsFinite() && rate > DataRate::Zero() ? std::optional(rate) : std::nullopt;
}

bool FaultTolerantController::Poll(size_t index, bool is_pilot, Timestamp now) {
  ReceiverController& controller = *controllers_[index + 1];
  if (controller.next_timeout() > now) return false;
  MemberState& member = members_[index];
  const std::optional<DataRate> rate = PollTarget(controller, now, member.path_kind);
  if (!rate) {
    ++member.faults;
    counters_.faults += is_pilot;
    member.decisions_in_a_row = 0;
    member.faults_in_a_row = std::min(member.faults_in_a_row + 1, kFaultsToFallback);
    if (member.faults_in_a_row == kFaultsToFallback) member.suspended = true;
    return true;
  }
  member.rate = rate;
  ++member.decisions;
  member.decisions_as_pilot += is_pilot;
  counters_.decisions += is_pilot;
  member.faults_in_a_row = 0;
  member.decisions_in_a_row = std::min(member.decisions_in_a_row + 1, kDecisionsToRecover);
  if (member.decisions_in_a_row == kDecisionsToRecover) member.suspended = false;
  return true;
}

// Polls the fallback also while the pilot decides: its windows must be warm when it is needed.
bool FaultTolerantController::PollFallback(Timestamp now) {
  ReceiverController& fallback = *controllers_.front();
  if (fallback.next_timeout() > now) return false;
  int path_kind = 0;
  const std::optional<DataRate> rate = PollTarget(fallback, now, path_kind);
  if (rate) fallback_rate_ = rate;
  if (!rate || !pilot().suspended) return false;
  ++counters_.fallback_decisions;
  return true;
}

NetworkControlUpdate FaultTolerantController::PilotUpdate(Timestamp now) const {
  const MemberState& pilot = this->pilot();
  NetworkControlUpdate update;
  update.path_kind = pilot.path_kind;
  update.source = TargetSource::kUndecided;
  if (!pilot.suspended && pilot.faults_in_a_row > 0) {
    update.source = TargetSource::kHeld;
  } else if (const std::optional<DataRate>& rate = pilot.suspended ? fallback_rate_ : pilot.rate) {
    update.source = pilot.suspended ? TargetSource::kFallback : TargetSource::kPilot;
    update.target_rate = {.at_time = now, .target_rate = *rate};
  }
  return update;
}

FallbackController::FallbackController(std::unique_ptr<ReceiverController> controller,
                                       std::unique_ptr<ReceiverController> fallback)
    : FaultTolerantController(std::move(fallback)) {
  controller = OrRule(std::move(controller));
  std::string name(controller->name());
  AddMember(std::move(name), std::move(controller));
}

NetworkControlUpdate FallbackController::OnTimeout(Timestamp now) {
  const bool polled = Poll(0, /*is_pilot=*/true, now);
  return PollFallback(now) || polled ? PilotUpdate(now) : NetworkControlUpdate();
}

}  // namespace weir
