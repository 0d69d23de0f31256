#include "policy/policy_agent.h"

#include <cassert>
#include <span>
#include <utility>

namespace weir {

PolicyAgent::PolicyAgent(std::unique_ptr<PolicyExecutor> executor) : executor_(std::move(executor)) {
  if (description().format == ModelFormat::kWeir1) {
    history_.emplace(description().features);
  } else {
    mmsys_observation_.resize(description().observation_size);
  }
}

void PolicyAgent::Add(const IntervalStatistics& statistics) {
  assert(description().format == ModelFormat::kWeir1);
  history_->Add(statistics);
}

void PolicyAgent::Add(const MmsysFeatures& features) {
  assert(description().format == ModelFormat::kMmsys2024);
  features.Write(mmsys_observation_);
}

void PolicyAgent::Submit(Timestamp now) {
  executor_->Submit(observation(), objective_, now);
  submitted_at_ = now;
  waiting_ = true;
}

std::optional<DataRate> PolicyAgent::Finish(Timestamp now, DataRate current) {
  const std::optional<PolicyAnswer> answer = executor_->Take(now);
  const TimeDelta age = now - submitted_at_;
  if (!answer && age < description().interval) return std::nullopt;
  waiting_ = false;
  if (!answer || age > description().interval || answer->fault != PolicyFault::kNone) return std::nullopt;
  std::span<const float> action = answer->action;
  if (action.empty()) return current;
  // (bandwidth, standard deviation)
  if (description().format == ModelFormat::kMmsys2024) action = action.first(1);
  return description().action.Apply(action, current);
}

void PolicyAgent::Reset() {
  if (history_) history_->Clear();
  executor_->Reset();
  waiting_ = false;
}

}  // namespace weir
