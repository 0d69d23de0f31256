// A policy with what surrounds it at every decision: feature history before it, action mapping behind it.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_POLICY_AGENT_H_
#define WEIR_ESTIMATOR_SRC_POLICY_POLICY_AGENT_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policy/feature_history.h"
#include "policy/mmsys_features.h"
#include "policy/policy_executor.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

// A decision is Add(), Submit() and then Finish(), until it is no longer waiting.
class PolicyAgent {
 public:
  explicit PolicyAgent(std::unique_ptr<PolicyExecutor> executor);

  const ModelDescription& description() const { return executor_->description(); }
  void SetObjective(const Objective& objective) { objective_ = objective; }

  // Ends an interval. For models of the format kWeir1.
  void Add(const IntervalStatistics& statistics);
  // The same for models of the format kMmsys2024.
  void Add(const MmsysFeatures& features);
  // As of the last interval; zeros before the first.
  std::span<const float> observation() const { return history_ ? history_->observation() : mmsys_observation_; }
  // Submits the observation, in place of an answer that it waits for.
  void Submit(Timestamp now);
  // The rate that follows, within the model's bounds; `current` is the rate in force. Nothing while it is waiting, and
  // on a fault: the policy failed, no rate follows from its action, or its answer took more than an interval.
  std::optional<DataRate> Finish(Timestamp now, DataRate current);
  bool waiting() const { return waiting_; }
  // When to call Finish() again, while it is waiting.
  Timestamp next_timeout(Timestamp now) const {
    return std::min(executor_->next_timeout(now), submitted_at_ + description().interval);
  }
  // Forgets history and recurrent state, as after a long gap, and drops an answer that it waits for.
  void Reset();

 private:
  std::unique_ptr<PolicyExecutor> executor_;
  // One of both, by the format.
  std::optional<FeatureHistory> history_;
  std::vector<float> mmsys_observation_;
  Objective objective_;
  bool waiting_ = false;
  Timestamp submitted_at_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_POLICY_AGENT_H_
