// Executors of policies: the caller submits an observation and takes the answer later.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_POLICY_EXECUTOR_H_
#define WEIR_ESTIMATOR_SRC_POLICY_POLICY_EXECUTOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policy/policy.h"
#include "weir/controllers.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

struct PolicyAnswer {
  PolicyFault fault = PolicyFault::kNone;
  // If empty, the rate in force stays. Meaningless after a fault. Valid until the next Submit().
  std::span<const float> action;
};

// Owns a policy with its recurrent state and computes one decision at a time. No function waits.
class PolicyExecutor {
 public:
  static constexpr TimeDelta kPollInterval = TimeDelta::Millis(10);

  virtual ~PolicyExecutor() = default;

  virtual const ModelDescription& description() const = 0;
  // Starts a decision. Drops one that is pending.
  virtual void Submit(std::span<const float> observation, const Objective& objective, Timestamp now) = 0;
  // Returns the answer once, and nothing while the decision is pending.
  virtual std::optional<PolicyAnswer> Take(Timestamp now) = 0;
  // Time at which to call Take() again after it returned nothing at `now`.
  virtual Timestamp next_timeout(Timestamp now) const { return now + kPollInterval; }
  // Drops a pending decision and sets the recurrent state to zeros.
  virtual void Reset() = 0;
};

// Computes in Submit(), on the caller's thread, so that the answer is available at once. Used for an empty
// PolicyExecutorFactory (weir/controllers.h).
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

// Computes with another executor and answers after a delay that is drawn for each decision. For simulation, training
// and tests.
class DelayedExecutor final : public PolicyExecutor {
 public:
  // `delay` must return finite times of at least zero.
  DelayedExecutor(std::unique_ptr<PolicyExecutor> executor, std::function<TimeDelta()> delay)
      : executor_(std::move(executor)), delay_(std::move(delay)) {}

  const ModelDescription& description() const override { return executor_->description(); }
  void Submit(std::span<const float> observation, const Objective& objective, Timestamp now) override {
    executor_->Submit(observation, objective, now);
    due_ = now + delay_();
  }
  std::optional<PolicyAnswer> Take(Timestamp now) override {
    if (now < due_) return std::nullopt;
    return executor_->Take(now);
  }
  Timestamp next_timeout(Timestamp) const override { return due_; }
  void Reset() override { executor_->Reset(); }

 private:
  const std::unique_ptr<PolicyExecutor> executor_;
  const std::function<TimeDelta()> delay_;
  Timestamp due_ = Timestamp::PlusInfinity();
};

// Answers of an InlineExecutor, each after a delay; an empty factory where `delay` is null.
inline PolicyExecutorFactory MakeDelayedInline(std::function<TimeDelta()> delay) {
  if (!delay) return nullptr;
  return [delay = std::move(delay)](std::unique_ptr<Policy> policy) {
    return std::make_unique<DelayedExecutor>(std::make_unique<InlineExecutor>(std::move(policy)), delay);
  };
}

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_POLICY_EXECUTOR_H_
