// An agent at the sender observes what the policy of weir-send observes.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "endpoints/simulation_job.h"
#include "test_models.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

constexpr const char* kModel = "steering";
constexpr float kStartRateBps = 300e3f;

// A policy in place of the agent. It sees the newest interval only: before the first there is nothing to answer.
class PolicyDecisions final : public DecisionSource {
 public:
  explicit PolicyDecisions(std::unique_ptr<Policy> policy) : policy_(std::move(policy)) {}
  const ModelDescription& description() const { return policy_->description(); }

  std::optional<std::span<const float>> Decide(std::span<const float> observation) override {
    times_ns.push_back(NowNs());
    if (times_ns.size() > 1) {
      EXPECT_EQ(policy_->Run(observation, kBalanced, action_), PolicyFault::kNone);
    }
    return action_;
  }

  std::vector<int64_t> times_ns;

 private:
  const std::unique_ptr<Policy> policy_;
  std::vector<float> action_{kStartRateBps};
};

// Ups and downs, and feedback that takes its time and is lost.
json Troubled() {
  json scenario = PathOf({{0, 2'000'000}, {8, 500'000}, {12, 0}, {14, 1'500'000}}, 25);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.02}};
  scenario["reverse"] = {{"one_way_delay_ms", 80.0}, {"loss", {{"kind", "bernoulli"}, {"ratio", 0.2}}}};
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  return scenario;
}

AgentSpecification AgentFor(PolicyDecisions& decisions) {
  const ModelDescription& description = decisions.description();
  return {.at_sender = true,
          .interval = description.interval,
          .features = description.features,
          .action = description.action,
          .source = &decisions};
}

nlohmann::ordered_json RunAgent(const AgentSpecification& agent) {
  SimulationJob job = JobOf(Troubled(), "agent");
  job.agent = &agent;
  job.agent_guard = true;
  return RunJob(job, true)["flows"][0];
}

TEST(AgentAtSenderTest, SeesAndDoesWhatThePolicyOfWeirSendDoes) {
  PolicyDecisions decisions(LoadTestModel(kModel));
  auto agent = RunAgent(AgentFor(decisions));
  SimulationJob job = JobOf(Troubled(), "weir-send");
  job.model = std::make_shared<ModelFile>(std::string(WEIR_TEST_MODELS) + "/" + kModel + ".onnx");
  // The agent's.
  job.guard_rules = GuardOptions::ForTraining();
  auto weir_send = RunJob(job, true)["flows"][0];
  EXPECT_NE(agent["controller"], weir_send["controller"]);
  agent.erase("controller");
  weir_send.erase("controller");
  EXPECT_EQ(agent, weir_send);
  // This model follows its receive rate, and so the frames that the congestion window costs.
  EXPECT_GT(Utilisation(agent), 0.1);
  EXPECT_GT(decisions.times_ns.size(), 200u);
  EXPECT_LT(decisions.times_ns.size(), 260u);
}

}  // namespace
}  // namespace weir::sim
