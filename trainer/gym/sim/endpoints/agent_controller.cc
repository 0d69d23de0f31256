#include "endpoints/agent_controller.h"

#include <algorithm>

namespace weir::sim {

AgentController::AgentController(const AgentSpecification& specification)
    : specification_(specification), history_(specification.features), observation_(specification.features.size()) {}

void AgentController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  const Timestamp now = constraints.at_time;
  constraints_ = constraints;
  if (interval_start_.IsFinite()) return;
  accumulator_.Start(now);
  interval_start_ = now;
  // The first decision is due at once.
  timer_.Start(now - specification_.interval, specification_.interval);
  target_ = constraints.start_rate;
}

void AgentController::OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) {
  accumulator_.OnRoundTripTime(update.round_trip_time);
}

std::span<const float> AgentController::Observe(Timestamp now) {
  if (interval_start_.IsFinite() && now > interval_start_) history_.Add(accumulator_.Take(now, target_));
  interval_start_ = now;
  history_.Write(observation_);
  return observation_;
}

NetworkControlUpdate AgentController::OnTimeout(Timestamp now) {
  NetworkControlUpdate update;
  if (!timer_.Take(now)) return update;
  DataRate target = target_;
  const std::optional<std::span<const float>> action = specification_.source->Decide(Observe(now));
  if (action) target = specification_.action.Apply(*action, target_).value_or(target_);
  target = std::clamp(target, constraints_.min_rate, constraints_.max_rate);
  update.target_rate = TargetTransferRate{.at_time = now, .target_rate = target};
  return update;
}

}  // namespace weir::sim
