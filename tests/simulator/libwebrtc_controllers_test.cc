// libwebrtc's controllers behave in the simulator as people know them. Where one does not, the simulator starves it,
// and every comparison with it is worthless.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "endpoints/controller_table.h"
#include "rate_controllers.h"
#include "test_scenarios.h"
#include "weir/names.h"

namespace weir::sim {
namespace {

// False where this libwebrtc lacks the controller.
bool IsThere(const char* controller) { return IsAvailable(*FindRow(SimulatedControllers(), controller)); }

nlohmann::ordered_json FlowOf(const json& scenario, const std::string& controller) {
  return RunScenario(scenario, controller)["flows"][0];
}

template <class Case>
std::string NameOf(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.controller;
  std::ranges::replace(name, '-', '_');
  return name + "_" + std::to_string(info.param.rate_bps / 1000) + "kbps";
}

struct Steadily {
  const char* controller;
  int64_t rate_bps;
  double most_delay_p95_ms = 150;
};
class OnASteadyLink : public testing::TestWithParam<Steadily> {};

TEST_P(OnASteadyLink, FillsItWithAShortQueue) {
  const auto& [controller, rate_bps, most_delay_p95_ms] = GetParam();
  if (!IsThere(controller)) GTEST_SKIP() << "no SCReAM in libwebrtc " << LibwebrtcVersion();
  const auto flow = FlowOf(Steady(rate_bps, 60), controller);
  const double share = MeanOver(flow, "receive_rate_bps", 30, 60) / static_cast<double>(rate_bps);
  EXPECT_GE(share, 0.85);
  EXPECT_LE(share, 1.001);
  EXPECT_LE(flow["one_way_delay_ms"]["p95"].get<double>(), most_delay_p95_ms);
}

INSTANTIATE_TEST_SUITE_P(Controllers, OnASteadyLink,
                         testing::Values(Steadily{"gcc", 300'000, 200}, Steadily{"gcc", 1'000'000},
                                         Steadily{"gcc", 2'500'000}, Steadily{"gcc", 8'000'000},
                                         Steadily{"gcc", 30'000'000}, Steadily{"pcc", 1'000'000},
                                         Steadily{"pcc", 2'500'000}, Steadily{"pcc", 8'000'000},
                                         Steadily{"pcc", 30'000'000}, Steadily{"scream", 1'000'000},
                                         Steadily{"scream", 2'500'000}, Steadily{"scream", 8'000'000},
                                         Steadily{"gcc-remb", 1'000'000}),
                         NameOf<Steadily>);

// Targets and rates as shares of the second capacity, which is half the first; the first target is one of the first.
struct Halved {
  const char* controller;
  int64_t rate_bps;
  double at_s, least_before;
  double later_s, least_then, most_then;
  double least_rate;
};
class OnAHalvedLink : public testing::TestWithParam<Halved> {};

TEST_P(OnAHalvedLink, FollowsWithinSeconds) {
  const Halved& c = GetParam();
  if (!IsThere(c.controller)) GTEST_SKIP() << "no SCReAM in libwebrtc " << LibwebrtcVersion();
  const auto flow = FlowOf(PathOf({{0, c.rate_bps}, {c.at_s, c.rate_bps / 2}}, c.at_s + 20), c.controller);
  const double half_bps = static_cast<double>(c.rate_bps) / 2;
  EXPECT_GE(MeanOver(flow, "target_bps", c.at_s - 0.1, c.at_s), c.least_before * 2 * half_bps);
  const double then = MeanOver(flow, "target_bps", c.at_s + c.later_s, c.at_s + c.later_s + 0.1) / half_bps;
  EXPECT_GE(then, c.least_then);
  EXPECT_LE(then, c.most_then);
  const double rate = MeanOver(flow, "receive_rate_bps", c.at_s + 5, c.at_s + 20) / half_bps;
  EXPECT_GE(rate, c.least_rate);
  EXPECT_LE(rate, 1.001);
}

INSTANTIATE_TEST_SUITE_P(Controllers, OnAHalvedLink,
                         testing::Values(Halved{"gcc", 2'500'000, 20, 0.76, 3, 0.7, 1.0, 0.84},
                                         Halved{"pcc", 2'500'000, 20, 0.8, 5, 0.24, 1.04, 0.5},
                                         Halved{"scream", 2'500'000, 20, 0.8, 3, 0.3, 1.04, 0.8},
                                         Halved{"gcc-remb", 1'000'000, 40, 0.8, 3, 0.7, 1.1, 0.8}),
                         NameOf<Halved>);

TEST(LibwebrtcControllersTest, SurviveAnOutage) {
  for (const char* controller : {"gcc", "gcc-remb", "pcc", "scream"}) {
    if (!IsThere(controller)) continue;
    const auto flow = FlowOf(PathOf({{0, 1'000'000}, {20, 0}, {25, 1'000'000}}, 60), controller);
    EXPECT_EQ(MeanOver(flow, "receive_rate_bps", 21, 25), 0) << controller;
    EXPECT_GT(MeanOver(flow, "receive_rate_bps", 40, 60), 0) << controller;
    EXPECT_LE(MeanOver(flow, "receive_rate_bps", 40, 60), 1.001e6) << controller;
  }
}

TEST(GccTest, PassesMostOfTheLinkWithinItsFirstSecondByProbing) {
  const auto flow = FlowOf(Steady(2'500'000, 10), "gcc");
  EXPECT_GE(MeanOver(flow, "target_bps", 0.9, 1.0), 2e6);
  EXPECT_GE(MeanOver(flow, "receive_rate_bps", 5, 10), 2.25e6);
}

TEST(GccTest, SharesWithItself) {
  for (const double later_s : {0.0, 10.0}) {
    json scenario = Steady(3'000'000, 120);
    scenario["flows"].push_back(RtpFlow("second"));
    scenario["flows"][1]["start_s"] = later_s;
    const auto flows = RunScenario(scenario, "gcc")["flows"];
    const double first = MeanOver(flows[0], "receive_rate_bps", 60, 120);
    const double second = MeanOver(flows[1], "receive_rate_bps", 60, 120);
    EXPECT_GT((first + second) * (first + second) / (2 * (first * first + second * second)), 0.8) << later_s;
    EXPECT_GE(first + second, 2.4e6) << later_s;
  }
}

// Without LossBasedBweV2, GCC takes no notice of a loss between 2 and 10 %; with it, 8 % bound the rate at 100 kbps /
// (0.08 - 0.05) = 3.3 Mbps.
TEST(GccTest, LossReportsReachItsLossBasedHalf) {
  json scenario = Steady(8'000'000, 60);
  EXPECT_GT(MeanOver(FlowOf(scenario, "gcc"), "target_bps", 30, 60), 6.4e6);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.08}};
  const auto lossy = FlowOf(scenario, "gcc");
  EXPECT_LT(MeanOver(lossy, "receive_rate_bps", 20, 60), 4.5e6);
  EXPECT_GT(MeanOver(lossy, "receive_rate_bps", 20, 60), 1.2e6);
}

// LossBasedBweV2's loss-limited estimate must not overflow, nor the bound that prevents it dull the reaction to loss.
TEST(GccTest, LastsThroughALongCallWithoutLoss) {
  json scenario = Steady(2'500'000, 3630);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"},
                                 {"ratio", {{"times_s", {0, 3600}}, {"ratios", {0, 0.2}}, {"period_s", nullptr}}}};
  const auto flow = FlowOf(scenario, "gcc");
  EXPECT_GE(MeanOver(flow, "receive_rate_bps", 10, 3600), 2.25e6);
  EXPECT_LE(MeanOver(flow, "receive_rate_bps", 3610, 3630), 1e6);
  EXPECT_GE(MeanOver(flow, "receive_rate_bps", 3610, 3630), 20e3);
}

// The sender of a receiver that decides, whose REMB stays at 800 kbps.
json WithConstantRemb(json scenario) {
  scenario["flows"][0]["start_rate_bps"] = scenario["flows"][0]["fixed_rate_bps"] = 800'000;
  scenario["flows"][0]["transport_cc"] = true;
  return scenario;
}

TEST(GccOfReceiverTest, FollowsRembAtOnceAndDelayDoesNotLowerIt) {
  json scenario = WithConstantRemb(PathOf({{0, 2'500'000}, {5, 600'000}}, 10));
  scenario["forward"]["queue"] = {{"bytes", 1'000'000}};
  const auto flow = FlowOf(scenario, "fixed");
  EXPECT_NEAR(MeanOver(flow, "target_bps", 0.1, 5), 800e3, 1e3);
  EXPECT_NEAR(MeanOver(flow, "target_bps", 5, 10), 800e3, 1e3);
  EXPECT_LE(MeanOver(FlowOf(scenario, "gcc"), "target_bps", 9, 10), 600e3);
}

TEST(GccOfReceiverTest, RembCountsIpPackets) {
  json scenario = WithConstantRemb(Steady(2'500'000, 10));
  EXPECT_NEAR(MeanOver(FlowOf(scenario, "fixed"), "receive_rate_bps", 2, 10), 800e3, 4e3);
  scenario["flows"][0]["transport_cc"] = false;
  EXPECT_NEAR(MeanOver(FlowOf(scenario, "fixed"), "receive_rate_bps", 2, 10), 800e3 * 1252 / 1224, 4e3);
}

TEST(GccOfReceiverTest, LossLowersIt) {
  json scenario = WithConstantRemb(Steady(2'500'000, 10));
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.3}};
  EXPECT_LT(MeanOver(FlowOf(scenario, "fixed"), "target_bps", 9, 10), 700e3);
}

// Both stay in force when the receiver's estimator dies, here before the path falls to a tenth.
TEST(GccOfReceiverTest, ACallWhoseEstimatorDiedLivesOnWithAFullQueue) {
  json scenario = WithConstantRemb(PathOf({{0, 3'000'000}, {20, 300'000}}, 60));
  scenario["flows"][0]["fixed_rate_bps"] = 2'000'000;
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  const auto flow = FlowOf(scenario, "fixed");
  EXPECT_GE(MeanOver(flow, "receive_rate_bps", 25, 60), 0.8 * 300e3);
  EXPECT_LE(MeanOver(flow, "send_rate_bps", 25, 60), 1.5 * 300e3);
  // REMB alone holds the rate up until its sender's loss rule has brought it down.
  scenario["flows"][0]["transport_cc"] = false;
  EXPECT_GE(MeanOver(FlowOf(scenario, "fixed"), "send_rate_bps", 25, 35), 5 * 300e3);
}

// It does not probe: 8 % a second.
TEST(GccRembTest, GrowsSlowly) {
  const auto flow = FlowOf(Steady(1'000'000, 10), "gcc-remb");
  EXPECT_GE(MeanOver(flow, "target_bps", 9, 10), 0.45e6);
  EXPECT_LE(MeanOver(flow, "target_bps", 9, 10), 0.8e6);
}

// PCC itself takes no notice of constraints; held below the capacity, its estimate must not run away.
TEST(PccTest, LastsThroughALongCallBelowTheCapacity) {
  json scenario = Steady(10'000'000, 1800);
  scenario["flows"][0]["media"] = {{"kind", "filler"}, {"max_rate_bps", 1'000'000}};
  const auto flow = FlowOf(scenario, "pcc");
  EXPECT_GE(MeanOver(flow, "receive_rate_bps", 60, 1800), 0.9e6);
  EXPECT_LE(MeanOver(flow, "receive_rate_bps", 60, 1800), 1.03e6);
}

// The bounds are those of libwebrtc's own tests on this path: 3 Mbps, a round trip of 80 ms.
TEST(ScreamTest, AnswersLossOnlyWithCongestionControlFeedback) {
  if (!IsThere("scream-ccfb")) GTEST_SKIP() << "no SCReAM in libwebrtc " << LibwebrtcVersion();
  json scenario = Steady(3'000'000, 60);
  scenario["forward"]["one_way_delay_ms"] = scenario["reverse"]["one_way_delay_ms"] = 40.0;
  for (const auto& [ratio, low_bps, high_bps] : {std::tuple(0.0, 2.4e6, 3e6), {0.01, 1e6, 3e6}, {0.05, 0.1e6, 1.5e6}}) {
    scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", ratio}};
    const auto flow = FlowOf(scenario, "scream-ccfb");
    EXPECT_GT(MeanOver(flow, "target_bps", 20, 60), low_bps) << ratio;
    EXPECT_LT(MeanOver(flow, "target_bps", 20, 60), high_bps) << ratio;
    // Transport-wide feedback does not mark losses as new, which its loss estimator counts: so in a browser, too.
    EXPECT_GT(MeanOver(FlowOf(scenario, "scream"), "target_bps", 20, 60), 2e6) << ratio;
  }
}

TEST(ScreamTest, ObeysItsFieldTrials) {
  if (!IsThere("scream")) GTEST_SKIP() << "no SCReAM in libwebrtc " << LibwebrtcVersion();
  const json scenario = Steady(2'500'000, 30);
  const auto shorter = FlowOf(scenario, "scream:WebRTC-Bwe-ScreamV2/mode:always,QDelayTarget:10ms/");
  const auto usual = FlowOf(scenario, "scream");
  EXPECT_LT(shorter["one_way_delay_ms"]["p95"].get<double>(), usual["one_way_delay_ms"]["p95"].get<double>());
}

}  // namespace
}  // namespace weir::sim
