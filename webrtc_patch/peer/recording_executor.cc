#include "recording_executor.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace weir::peer {

using nlohmann::ordered_json;

RecordingExecutor::RecordingExecutor(std::unique_ptr<PolicyExecutor> executor, double exploration, uint32_t seed,
                                     Write write)
    : executor_(std::move(executor)), exploration_(exploration), write_(std::move(write)), random_(seed) {}

bool RecordingExecutor::Takes(const ModelDescription& description) {
  return description.format == ModelFormat::kWeir1 && description.action_size == 1 &&
         description.action.kind != ActionKind::kDiscrete;
}

void RecordingExecutor::Submit(std::span<const float> observation, const Objective& objective, Timestamp now) {
  // A decision that was never taken is part of the history.
  Finish({}, {});
  const FeatureSpecification& features = description().features;
  std::vector<float> newest(observation.begin(), observation.begin() + std::ssize(features.fields));
  std::copy(observation.end() - std::ptrdiff_t(features.path_fields()), observation.end(),
            newest.begin() + std::ptrdiff_t(features.interval_fields()));
  line_ = {{"type", "decision"},
           {"time_us", now.us()},
           {"reset", std::exchange(reset_, false)},
           {"objective", {objective.throughput, objective.latency, objective.loss}},
           {"observation", std::move(newest)}};
  executor_->Submit(observation, objective, now);
}

std::optional<PolicyAnswer> RecordingExecutor::Take(Timestamp now) {
  std::optional<PolicyAnswer> answer = executor_->Take(now);
  if (!answer) return answer;
  if (answer->fault != PolicyFault::kNone) {
    Finish({}, {});
    return answer;
  }
  const float wanted = answer->action.front();
  action_ = wanted;
  if (exploration_ > 0) {
    const double noise = exploration_ * normal_(random_);
    action_ =
        static_cast<float>(description().action.kind == ActionKind::kRate ? wanted * std::exp(noise) : wanted + noise);
  }
  Finish(wanted, action_);
  answer->action = {&action_, 1};
  return answer;
}

void RecordingExecutor::Reset() {
  Finish({}, {});
  executor_->Reset();
  reset_ = true;
}

void RecordingExecutor::Finish(ordered_json policy_action, ordered_json action) {
  if (line_.is_null()) return;
  line_["policy_action"] = std::move(policy_action);
  line_["action"] = std::move(action);
  write_(std::exchange(line_, {}));
}

}  // namespace weir::peer
