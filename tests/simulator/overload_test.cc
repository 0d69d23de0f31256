// Full queues and lost feedback: the rate that was in force when feedback stopped must not outlast it.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "endpoints/simulation_job.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

class OverloadInSimulationTest : public testing::TestWithParam<std::string> {};

// While feedback is lost, for 40 to 80 s, the capacity falls by 5 to 17 %.
TEST_P(OverloadInSimulationTest, EndsWhenFeedbackIsBack) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto between = [&random](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const double rate_bps = between(1e6, 8e6);
    json scenario = PathOf({{0.0, static_cast<int64_t>(rate_bps)},
                            {between(30, 35), static_cast<int64_t>(rate_bps * between(0.83, 0.95))}},
                           200);
    scenario["reverse"]["loss"] = {
        {"kind", "bernoulli"}, {"ratio", {{"times_s", {0.0, 30.0, between(70, 110)}}, {"ratios", {0.0, 1.0, 0.0}}}}};
    SimulationJob job = JobOf(scenario, GetParam(), seed);
    job.model = std::make_shared<ModelFile>(std::string(WEIR_SOURCE_DIR) + "/estimator/models/weir.onnx");
    const auto record = RunJob(job, true);
    const auto& flow = record["flows"][0];
    EXPECT_LT(MeanOver(flow, "one_way_delay_mean_ms", 150, 200), 200);
    EXPECT_LT(MeanOver(flow, "packets_lost", 150, 200), 0.3);
    EXPECT_GT(MeanOver(flow, "receive_rate_bps", 150, 200), rate_bps * 0.7);
  }
}

INSTANTIATE_TEST_SUITE_P(Controllers, OverloadInSimulationTest, testing::Values("weir", "rule", "nada"));

}  // namespace
}  // namespace weir::sim
