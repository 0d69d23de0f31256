// libwebrtc's SCReAM v2 behaves as its own tests and Chromium's calls show it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "bare_network.h"
#include "rate_controllers.h"
#include "scripted_call.h"

namespace weir {
namespace {

using bare::At;
using bare::FlowResult;
using bare::Kbps;
using bare::PathConfig;
using bare::Simulate;

class ScreamController : public testing::Test {
 protected:
  void SetUp() override {
    if (LibwebrtcMilestone() < 150) GTEST_SKIP() << "libwebrtc " << LibwebrtcVersion() << " has no SCReAM";
  }
};

class ScreamOnASteadyLink : public ScreamController, public testing::WithParamInterface<int64_t> {};

TEST_P(ScreamOnASteadyLink, FillsItWithAShortQueue) {
  const DataRate capacity = Kbps(GetParam());
  const FlowResult result = Simulate(PathConfig::Steady(capacity), MakeScreamController(), TimeDelta::Seconds(60));
  EXPECT_GE(result.ReceiveRate(At(20), At(60)) / capacity, 0.85);
  EXPECT_LE(result.ReceiveRate(At(20), At(60)) / capacity, 1.001);
  EXPECT_LE(result.DelayQuantile(0.95), TimeDelta::Millis(150));
}

INSTANTIATE_TEST_SUITE_P(Capacities, ScreamOnASteadyLink, testing::Values(1000, 2500, 8000),
                         [](const auto& info) { return std::to_string(info.param) + "kbps"; });

TEST_F(ScreamController, FollowsAHalvedLink) {
  const FlowResult result = Simulate(PathConfig::Steps({{At(0), Kbps(2500)}, {At(20), Kbps(1250)}}, Kbps(2500)),
                                     MakeScreamController(), TimeDelta::Seconds(40));
  EXPECT_GE(result.TargetAt(At(20)), Kbps(2000));
  EXPECT_LE(result.TargetAt(At(23)), Kbps(1300));
  EXPECT_GE(result.ReceiveRate(At(25), At(40)), Kbps(1000));
}

// Transport-wide feedback does not mark losses as new, which its loss estimator counts: so in a browser, too.
TEST_F(ScreamController, TakesNoNoticeOfRandomLoss) {
  PathConfig path = PathConfig::Steady(Kbps(2500));
  path.loss_ratio = 0.05;
  const FlowResult result = Simulate(path, MakeScreamController(), TimeDelta::Seconds(60));
  EXPECT_GE(result.ReceiveRate(At(20), At(60)), Kbps(2000));
}

TEST_F(ScreamController, SetsACongestionWindow) {
  const auto controller = MakeScreamController();
  scripted::Call call(*controller, {}, Timestamp::Micros(0));
  call.Talk(TimeDelta::Seconds(5));
  const auto& sayings = call.sayings();
  EXPECT_TRUE(std::any_of(sayings.begin(), sayings.end(), [](const auto& saying) {
    return saying.update.congestion_window && saying.update.congestion_window->IsFinite();
  }));
}

TEST_F(ScreamController, ObeysItsFieldTrials) {
  const auto trials = FieldTrialsOf("scream:WebRTC-Bwe-ScreamV2/mode:always,QDelayTarget:10ms/");
  const PathConfig path = PathConfig::Steady(Kbps(2500));
  const FlowResult shorter = Simulate(path, MakeScreamController(trials.value()), TimeDelta::Seconds(30));
  const FlowResult usual = Simulate(path, MakeScreamController(), TimeDelta::Seconds(30));
  EXPECT_LT(shorter.DelayQuantile(0.95), usual.DelayQuantile(0.95));
}

}  // namespace
}  // namespace weir
