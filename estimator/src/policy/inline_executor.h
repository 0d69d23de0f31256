// The executor of a model on the caller's thread.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_INLINE_EXECUTOR_H_
#define WEIR_ESTIMATOR_SRC_POLICY_INLINE_EXECUTOR_H_

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policy/policy.h"
#include "weir/policy_executor.h"

namespace weir {

// Computes in Submit(), so that the answer is available at once. Used for an empty PolicyExecutorFactory
// (weir/controllers.h).
class InlineExecutor final : public PolicyExecutor {
 public:
  explicit InlineExecutor(std::unique_ptr<Policy> policy)
      : policy_(std::move(policy)), action_(policy_->description().action_size) {}

  const ModelDescription& description() const override { return policy_->description(); }
  void Submit(std::span<const float> observation, const Objective& objective, Timestamp) override {
    const PolicyFault fault = policy_->Run(observation, objective, action_);
    answer_ = {.fault = fault, .action = action_};
  }
  std::optional<PolicyAnswer> Take(Timestamp) override { return std::exchange(answer_, std::nullopt); }
  void Reset() override {
    answer_.reset();
    policy_->ResetState();
  }

 private:
  const std::unique_ptr<Policy> policy_;
  std::vector<float> action_;
  std::optional<PolicyAnswer> answer_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_INLINE_EXECUTOR_H_
