// An agent in another process as the executor of a PolicyController: it observes and acts as a model in a call does.
#ifndef WEIR_SIMULATOR_ENDPOINTS_AGENT_H_
#define WEIR_SIMULATOR_ENDPOINTS_AGENT_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "weir/action.h"
#include "weir/model_description.h"
#include "weir/policy_controller.h"
#include "weir/policy_executor.h"
#include "weir/units.h"

namespace weir::sim {

class DecisionSource {
 public:
  virtual ~DecisionSource() = default;
  // Returns the action, or nullopt to keep the current rate. The returned span is valid until the next call.
  virtual std::optional<std::span<const float>> Decide(std::span<const float> observation) = 0;
};

struct AgentSpecification {
  // The agent decides in a SendSideEstimator, from transport feedback.
  bool at_sender = false;
  TimeDelta interval = TimeDelta::Millis(200);
  FeatureSpecification features;
  ActionMapping action;
  DecisionSource* source = nullptr;
};

// Requests each decision from the agent. Simulated time stands still meanwhile.
class AgentExecutor final : public PolicyExecutor {
 public:
  explicit AgentExecutor(const AgentSpecification& specification) : source_(specification.source) {
    description_.name = "agent";
    description_.observation_size = specification.features.size();
    description_.features = specification.features;
    description_.interval = specification.interval;
    description_.action = specification.action;
  }

  const ModelDescription& description() const override { return description_; }
  void Submit(std::span<const float> observation, const Objective&, Timestamp) override {
    answer_ = {.action = source_->Decide(observation).value_or(std::span<const float>())};
  }
  std::optional<PolicyAnswer> Take(Timestamp) override { return std::exchange(answer_, std::nullopt); }
  void Reset() override { answer_.reset(); }

 private:
  DecisionSource* const source_;
  ModelDescription description_;
  std::optional<PolicyAnswer> answer_;
};

// Makes the controller of an agent. `delay` draws the delay of each action; null means no delay.
inline std::unique_ptr<PolicyController> MakeAgentController(const AgentSpecification& specification,
                                                             std::function<TimeDelta()> delay) {
  std::unique_ptr<PolicyExecutor> executor = std::make_unique<AgentExecutor>(specification);
  if (delay) executor = MakeDelayedExecutor(std::move(executor), std::move(delay));
  return std::make_unique<PolicyController>(std::move(executor));
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_AGENT_H_
