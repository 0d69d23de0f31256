#include "policy/policy_agent.h"

#include <cassert>
#include <span>
#include <utility>

namespace weir {

PolicyAgent::PolicyAgent(std::unique_ptr<Policy> policy)
    : policy_(std::move(policy)), observation_(description().observation_size), action_(description().action_size) {
  if (description().format == ModelFormat::kWeir1) history_.emplace(description().features);
}

std::optional<DataRate> PolicyAgent::Decide(const IntervalStatistics& statistics, DataRate current) {
  assert(description().format == ModelFormat::kWeir1);
  history_->Add(statistics);
  history_->Write(observation_);
  return Decide(current);
}

std::optional<DataRate> PolicyAgent::Decide(const MmsysFeatures& features, DataRate current) {
  assert(description().format == ModelFormat::kMmsys2024);
  features.Write(observation_);
  return Decide(current);
}

std::optional<DataRate> PolicyAgent::Decide(DataRate current) {
  switch (policy_->Run(observation_, objective_, action_)) {
    case PolicyFault::kNone:
      break;
    case PolicyFault::kBadObservation:
      ++faults_.bad_observation;
      return std::nullopt;
    case PolicyFault::kRuntimeError:
      ++faults_.runtime_error;
      return std::nullopt;
    case PolicyFault::kNonFiniteOutput:
      ++faults_.non_finite_output;
      return std::nullopt;
  }
  std::span<const float> action = action_;
  // (bandwidth, standard deviation)
  if (description().format == ModelFormat::kMmsys2024) action = action.first(1);
  const std::optional<DataRate> rate = description().action.Apply(action, current);
  if (!rate) ++faults_.unusable_action;
  return rate;
}

void PolicyAgent::Reset() {
  if (history_) history_->Clear();
  policy_->ResetState();
}

}  // namespace weir
