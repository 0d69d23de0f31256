// A policy with what surrounds it at every decision: feature history before it, action mapping behind it.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_POLICY_AGENT_H_
#define WEIR_ESTIMATOR_SRC_POLICY_POLICY_AGENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "policy/feature_history.h"
#include "policy/mmsys_features.h"
#include "policy/policy.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

// How often a decision failed, by cause.
struct PolicyFaultCounters {
  uint64_t bad_observation = 0;
  uint64_t runtime_error = 0;
  uint64_t non_finite_output = 0;
  uint64_t unusable_action = 0;  // finite, but no rate follows from it

  uint64_t total() const { return bad_observation + runtime_error + non_finite_output + unusable_action; }
};

class PolicyAgent {
 public:
  explicit PolicyAgent(std::unique_ptr<Policy> policy);

  const ModelDescription& description() const { return policy_->description(); }
  void SetObjective(const Objective& objective) { objective_ = objective; }

  // The rate that follows from the interval that just ended, within the model's bounds; `current` is the rate in force.
  // Nothing on a fault, which is counted. For models of the format kWeir1.
  std::optional<DataRate> Decide(const IntervalStatistics& statistics, DataRate current);
  // The same for models of the format kMmsys2024.
  std::optional<DataRate> Decide(const MmsysFeatures& features, DataRate current);
  // Forgets history and recurrent state, as after a long gap.
  void Reset();

  const PolicyFaultCounters& faults() const { return faults_; }
  // From the last decision, see Policy.
  int path_kind() const { return policy_->path_kind(); }

 private:
  std::optional<DataRate> Decide(DataRate current);

  std::unique_ptr<Policy> policy_;
  std::optional<FeatureHistory> history_;
  Objective objective_;
  std::vector<float> observation_;
  std::vector<float> action_;
  PolicyFaultCounters faults_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_POLICY_AGENT_H_
