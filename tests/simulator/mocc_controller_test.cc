// MOCC's interface as a controller of whole simulations.
#include "endpoints/mocc_controller.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "programs/input.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

SimulationJob Job(const json& scenario, const std::string& model) {
  SimulationJob job = JobOf(scenario, "mocc");
  job.model = std::make_shared<ModelFile>(model);
  return job;
}

std::string TestModel(const std::string& name) { return std::string(WEIR_TEST_MODELS) + "/" + name + ".onnx"; }

class MoccControllerTest : public testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Kbps, MoccControllerTest, testing::Values(300, 2000, 20000),
                         [](const auto& tested) { return std::to_string(tested.param); });

TEST_P(MoccControllerTest, FillsASteadyLinkWithTheShippedModel) {
  const auto flow = RunJob(Job(Steady(GetParam() * 1000, 30), WEIR_SHIPPED_MODEL), true)["flows"][0];
  EXPECT_EQ(flow["controller"], "mocc");
  EXPECT_GT(MeanOver(flow, "receive_rate_bps", 15, 30), 0.9 * static_cast<double>(GetParam() * 1000));
}

TEST(MoccControllerRefusalTest, NamesTheFeaturesThatStatusesDoNotGive) {
  try {
    RunJob(Job(Steady(2'000'000, 5), TestModel("mocc_sized")), false);
    FAIL() << "runs";
  } catch (const ProgramError& error) {
    EXPECT_NE(std::string(error.what()).find("queueing_delay_p95_s"), std::string::npos) << error.what();
  }
}

TEST(MoccControllerRefusalTest, NeedsAModelAndNoDecisionDelay) {
  EXPECT_THROW(RunJob(JobOf(Steady(2'000'000, 5), "mocc"), false), ProgramError);
  SimulationJob job = Job(Steady(2'000'000, 5), WEIR_SHIPPED_MODEL);
  job.decision_delay = {20, 20};
  EXPECT_THROW(RunJob(job, false), ProgramError);
}

}  // namespace
}  // namespace weir::sim
