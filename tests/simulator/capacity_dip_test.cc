// A fast link whose capacity falls to 300 kbps for 0.7 s each 5 s, as of a radio at 60 GHz behind people who pass.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/simulation_job.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

constexpr double kDurationS = 90;
constexpr uint64_t kSeeds = 3;

double ReceiveRateMbps(const std::string& controller) {
  std::vector<std::pair<double, int64_t>> capacity;
  for (int begin_s = 0; begin_s < static_cast<int>(kDurationS); begin_s += 5) {
    capacity.emplace_back(begin_s, 60'000'000);
    capacity.emplace_back(begin_s + 4.3, 300'000);
  }
  json scenario = PathOf(capacity, kDurationS);
  scenario["forward"]["one_way_delay_ms"] = 15.0;
  scenario["forward"]["queue"] = {{"bytes", 2e6}};
  scenario["flows"][0]["transport_cc"] = true;
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 20e6}, {"frames_per_second", 60.0}};
  double sum_bps = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimulationJob job = JobOf(scenario, controller, seed);
    job.model = std::make_shared<ModelFile>(std::string(WEIR_SOURCE_DIR) + "/estimator/models/weir.onnx");
    sum_bps += MeanOver(RunJob(job, true)["flows"][0], "receive_rate_bps", 0, kDurationS);
  }
  return sum_bps / static_cast<double>(kSeeds) / 1e6;
}

class CapacityDipInSimulationTest : public testing::TestWithParam<std::string> {};

TEST_P(CapacityDipInSimulationTest, ReceivesAtLeastAsMuchAsUnderGcc) {
  const double rate_mbps = ReceiveRateMbps(GetParam());
  EXPECT_GE(rate_mbps, 16);
  EXPECT_GE(rate_mbps, ReceiveRateMbps("gcc"));
}

INSTANTIATE_TEST_SUITE_P(Controllers, CapacityDipInSimulationTest, testing::Values("weir", "weir-send"),
                         [](const auto& info) { return info.param == "weir" ? "Receiver" : "Sender"; });

}  // namespace
}  // namespace weir::sim
