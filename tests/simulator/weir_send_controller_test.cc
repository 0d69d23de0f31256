// weir-send in whole simulations.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "endpoints/simulation_job.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

// The sender obeys the congestion window: a queue of 300 ms holds all that it sends before it notices.
TEST(WeirSendControllerTest, OverflowsNoQueueWhereThePathStops) {
  SimulationJob job = JobOf(PathOf({{0, 1'000'000}, {15, 0}, {17, 1'000'000}}, 25), "weir-send");
  job.model = std::make_shared<ModelFile>(std::string(WEIR_TEST_MODELS) + "/steering.onnx");
  const auto flow = RunJob(job, true)["flows"][0];
  EXPECT_EQ(flow["packets_lost"], 0);
  EXPECT_GT(MeanOver(flow, "target_bps", 10, 15), 700e3);
}

}  // namespace
}  // namespace weir::sim
