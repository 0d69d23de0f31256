#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "bare_network.h"
#include "rate_controllers.h"

namespace weir {
namespace {

using bare::At;
using bare::FlowConfig;
using bare::FlowResult;
using bare::Kbps;
using bare::PathConfig;
using bare::Simulate;

class PccOnASteadyLink : public testing::TestWithParam<int64_t> {};

TEST_P(PccOnASteadyLink, FillsIt) {
  const DataRate capacity = Kbps(GetParam());
  const FlowResult result = Simulate(PathConfig::Steady(capacity), MakePccController(), TimeDelta::Seconds(60));
  EXPECT_GE(result.ReceiveRate(At(20), At(60)) / capacity, 0.85);
  EXPECT_LE(result.ReceiveRate(At(20), At(60)) / capacity, 1.0);
  EXPECT_LE(result.DelayQuantile(0.95), TimeDelta::Millis(150));
}

INSTANTIATE_TEST_SUITE_P(Capacities, PccOnASteadyLink, testing::Values(1000, 2500, 8000, 30000),
                         [](const auto& info) { return std::to_string(info.param) + "kbps"; });

TEST(PccController, FollowsAHalvedLink) {
  const FlowResult result = Simulate(PathConfig::Steps({{At(0), Kbps(2500)}, {At(20), Kbps(1250)}}, Kbps(2500)),
                                     MakePccController(), TimeDelta::Seconds(40));
  EXPECT_GE(result.TargetAt(At(20)), Kbps(2000));
  EXPECT_GE(result.TargetAt(At(25)), Kbps(300));
  EXPECT_LE(result.TargetAt(At(25)), Kbps(1300));
}

// PCC itself takes no notice of constraints; held below the capacity, its estimate must not run away.
TEST(PccController, LastsThroughALongCallBelowTheCapacity) {
  std::vector<FlowConfig> flows(1);
  flows[0].controller = MakePccController();
  flows[0].constraints.max_rate = Kbps(1000);
  const FlowResult result =
      std::move(Simulate(PathConfig::Steady(Kbps(10'000)), std::move(flows), TimeDelta::Seconds(1800))[0]);
  EXPECT_GE(result.ReceiveRate(At(60), At(1800)), Kbps(900));
  EXPECT_LE(result.ReceiveRate(At(60), At(1800)), Kbps(1000));
}

TEST(PccController, IsTheSameTwice) {
  PathConfig path = PathConfig::Steady(Kbps(1000));
  path.loss_ratio = 0.01;
  bare::ExpectTheSameTwice(
      path, [](const PathConfig& same) { return Simulate(same, MakePccController(), TimeDelta::Seconds(30)); });
}

}  // namespace
}  // namespace weir
