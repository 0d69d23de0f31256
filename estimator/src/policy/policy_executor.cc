#include "weir/policy_executor.h"

#include <utility>

#include "policy/inline_executor.h"

namespace weir {
namespace {

class DelayedExecutor final : public PolicyExecutor {
 public:
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

}  // namespace

std::unique_ptr<PolicyExecutor> MakeInlineExecutor(std::shared_ptr<const PolicyModel> model) {
  return std::make_unique<InlineExecutor>(std::make_unique<Policy>(std::move(model)));
}

std::unique_ptr<PolicyExecutor> MakeDelayedExecutor(std::unique_ptr<PolicyExecutor> executor,
                                                    std::function<TimeDelta()> delay) {
  return std::make_unique<DelayedExecutor>(std::move(executor), std::move(delay));
}

PolicyExecutorFactory MakeDelayedInline(std::function<TimeDelta()> delay) {
  if (!delay) return nullptr;
  return [delay = std::move(delay)](std::unique_ptr<Policy> policy) {
    return MakeDelayedExecutor(std::make_unique<InlineExecutor>(std::move(policy)), delay);
  };
}

}  // namespace weir
