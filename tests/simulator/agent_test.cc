// An agent, as in training, observes and does what a policy in a call observes and does, from its first decision on.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/simulation_job.h"
#include "test_models.h"
#include "test_scenarios.h"
#include "weir/policy_executor.h"

namespace weir::sim {
namespace {

constexpr const char* kShipped = WEIR_SOURCE_DIR "/estimator/models/weir.onnx";

// A policy in place of the agent.
class PolicyDecisions final : public DecisionSource {
 public:
  explicit PolicyDecisions(std::shared_ptr<const PolicyModel> model) : policy_(MakeInlineExecutor(std::move(model))) {}
  const ModelDescription& description() const { return policy_->description(); }

  std::optional<std::span<const float>> Decide(std::span<const float> observation) override {
    times.push_back(Now());
    const Timestamp now = ToTimestamp(Now());
    if (first_observation.empty()) first_observation.assign(observation.begin(), observation.end());
    policy_->Submit(observation, kBalanced, now);
    const std::optional<PolicyAnswer> answer = policy_->Take(now);
    EXPECT_EQ(answer.value().fault, PolicyFault::kNone);
    return answer->action;
  }

  std::vector<SimTime> times;
  std::vector<float> first_observation;

 private:
  const std::unique_ptr<PolicyExecutor> policy_;
};

// Ups and downs, and feedback that takes its time and is lost.
json Troubled() {
  json scenario = PathOf({{0, 2'000'000}, {8, 500'000}, {12, 0}, {14, 1'500'000}}, 25);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.02}};
  scenario["reverse"] = {{"one_way_delay_ms", 80.0}, {"loss", {{"kind", "bernoulli"}, {"ratio", 0.2}}}};
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  return scenario;
}

// The flow's record under an agent or, with none, under the controller of that name.
nlohmann::ordered_json RecordOf(const std::string& controller, const std::string& model,
                                const AgentSpecification* agent) {
  SimulationJob job = JobOf(Troubled(), controller);
  job.model = std::make_shared<ModelFile>(model);
  job.agent = agent;
  job.agent_guard = true;
  // The agent's.
  job.guard_rules = GuardOptions::ForTraining();
  auto flow = RunJob(job, true)["flows"][0];
  EXPECT_EQ(flow["controller"], controller);
  flow.erase("controller");
  return flow;
}

struct Case {
  const char* model;
  const char* controller;
};

class AgentTest : public testing::TestWithParam<Case> {};

TEST_P(AgentTest, SeesAndDoesWhatThePolicyOfACallDoes) {
  const auto& [model, controller] = GetParam();
  const std::string path =
      model == std::string("shipped") ? kShipped : std::string(WEIR_TEST_MODELS) + "/" + model + ".onnx";
  PolicyDecisions decisions(ModelFile(path).Load());
  const ModelDescription& description = decisions.description();
  const AgentSpecification agent{.at_sender = controller == std::string("weir-send"),
                                 .interval = description.interval,
                                 .features = description.features,
                                 .action = description.action,
                                 .source = &decisions};
  const auto in_training = RecordOf("agent", path, &agent);
  EXPECT_EQ(in_training, RecordOf(controller, path, nullptr));
  EXPECT_GT(Utilisation(in_training), 0.1);
  EXPECT_GT(decisions.times.size(), 200u);
  EXPECT_LT(decisions.times.size(), 260u);
}

INSTANTIATE_TEST_SUITE_P(Models, AgentTest,
                         testing::Values(Case{"shipped", "weir"}, Case{"shipped", "weir-send"},
                                         Case{"recurrent", "weir"}, Case{"steering", "weir-send"}),
                         [](const auto& info) {
                           std::string name = std::string(info.param.model) + "_" + info.param.controller;
                           std::erase(name, '-');
                           return name;
                         });

TEST(AgentStartTest, DecidesFirstAfterAnIntervalWithTwoSilentOnesBeforeIt) {
  PolicyDecisions decisions(ModelFile(kShipped).Load());
  const ModelDescription& description = decisions.description();
  const AgentSpecification agent{.interval = description.interval,
                                 .features = description.features,
                                 .action = description.action,
                                 .source = &decisions};
  RecordOf("agent", kShipped, &agent);
  EXPECT_EQ(decisions.times.front(), kTimeZero + ToSimDuration(description.interval));
  const size_t width = description.features.interval_fields();
  const auto packets_of = [&](size_t interval) {
    for (size_t i = 0; i < width; ++i) {
      const size_t element = interval * width + i;
      if (description.features.at(element).name == std::string_view("packets_received"))
        return decisions.first_observation[element];
    }
    return -1.0f;
  };
  EXPECT_GT(packets_of(0), 0);
  EXPECT_EQ(packets_of(1), 0);
  EXPECT_EQ(packets_of(2), 0);
}

}  // namespace
}  // namespace weir::sim
