// The real GCC behaves as people know it. Where it does not, the harness starves it, and every comparison with it is
// worthless.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
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

FlowResult RunGcc(const PathConfig& path, int64_t seconds, FlowConfig flow = {}) {
  flow.controller = MakeGccController();
  std::vector<FlowConfig> flows;
  flows.push_back(std::move(flow));
  return std::move(Simulate(path, std::move(flows), TimeDelta::Seconds(seconds)).front());
}

double JainIndex(double a, double b) { return (a + b) * (a + b) / (2 * (a * a + b * b)); }

TEST(GccController, Passes90PercentOfTheLinkWithin10Seconds) {
  const FlowResult result = RunGcc(PathConfig::Steady(Kbps(2500)), 10);
  DataRate best = DataRate::Zero();
  for (int64_t s = 0; s < 10; ++s) best = std::max(best, result.ReceiveRate(At(s), At(s + 1)));
  EXPECT_GE(best, Kbps(2250));
  EXPECT_LE(best, Kbps(2500));
  // By probing, in the first second.
  EXPECT_GE(result.TargetAt(At(1)), Kbps(2000));
}

TEST(GccController, CrawlsWhenItsProbesAreNotSent) {
  FlowConfig flow;
  flow.send_probes = false;
  const FlowResult result = RunGcc(PathConfig::Steady(Kbps(2500)), 10, std::move(flow));
  EXPECT_GE(result.TargetAt(At(10)), Kbps(400));
  EXPECT_LE(result.TargetAt(At(10)), Kbps(1000));
}

// The REMB of a receiver that decides stays at the start rate here.
FlowResult RunBelowRemb(std::unique_ptr<SenderController> controller, const PathConfig& path) {
  FlowConfig flow;
  flow.controller = std::move(controller);
  flow.constraints.start_rate = Kbps(800);
  std::vector<FlowConfig> flows;
  flows.push_back(std::move(flow));
  return std::move(Simulate(path, std::move(flows), TimeDelta::Seconds(10)).front());
}

TEST(GccOfReceiver, FollowsRembAtOnce) {
  const FlowResult result = RunBelowRemb(MakeGccOfReceiver(), PathConfig::Steady(Kbps(2500)));
  EXPECT_EQ(result.TargetAt(At(0)), Kbps(800));
  EXPECT_EQ(result.TargetAt(At(10)), Kbps(800)) << "it can only be lowered";
}

TEST(GccOfReceiver, DelayDoesNotLowerIt) {
  PathConfig path = PathConfig::Steps({{bare::kStart, Kbps(2500)}, {At(5), Kbps(600)}}, Kbps(2500));
  path.queue = DataSize::Bytes(1'000'000);
  EXPECT_EQ(RunBelowRemb(MakeGccOfReceiver(), path).TargetAt(At(10)), Kbps(800));
  EXPECT_LE(RunBelowRemb(MakeGccController(), path).TargetAt(At(10)), Kbps(600));
}

TEST(GccOfReceiver, LossLowersIt) {
  PathConfig path = PathConfig::Steady(Kbps(2500));
  path.loss_ratio = 0.3;
  EXPECT_LT(RunBelowRemb(MakeGccOfReceiver(), path).TargetAt(At(10)), Kbps(700));
}

struct SteadyCase {
  int64_t capacity_kbps;
  // Measured by an independent harness.
  double utilisation;
};

class GccOnASteadyLink : public testing::TestWithParam<SteadyCase> {};

TEST_P(GccOnASteadyLink, AgreesWithAnIndependentHarness) {
  const DataRate capacity = Kbps(GetParam().capacity_kbps);
  const FlowResult result = RunGcc(PathConfig::Steady(capacity), 60);
  EXPECT_NEAR(result.ReceiveRate(At(0), At(60)) / capacity, GetParam().utilisation, 0.03);
  EXPECT_LE(result.LossRatio(), 0.005);
  EXPECT_LE(result.DelayQuantile(0.95), TimeDelta::Millis(300));
}

INSTANTIATE_TEST_SUITE_P(Capacities, GccOnASteadyLink,
                         testing::Values(SteadyCase{300, 0.93}, SteadyCase{1000, 0.93}, SteadyCase{2500, 0.94},
                                         SteadyCase{8000, 0.92}, SteadyCase{30000, 0.88}),
                         [](const auto& info) { return std::to_string(info.param.capacity_kbps) + "kbps"; });

TEST(GccController, HalvesWithinSecondsOfAHalvedLink) {
  const FlowResult result = RunGcc(PathConfig::Steps({{At(0), Kbps(2500)}, {At(20), Kbps(1250)}}, Kbps(2500)), 40);
  EXPECT_GE(result.TargetAt(At(20)), Kbps(1900));
  EXPECT_GE(result.TargetAt(At(23)), Kbps(900));
  EXPECT_LE(result.TargetAt(At(23)), Kbps(1250));
  EXPECT_GE(result.ReceiveRate(At(25), At(40)), Kbps(1050));
  EXPECT_LE(result.ReceiveRate(At(25), At(40)), Kbps(1250));
}

TEST(GccController, SharesWithItself) {
  for (const int64_t second_start : {0, 10}) {
    std::vector<FlowConfig> flows(2);
    for (FlowConfig& flow : flows) flow.controller = MakeGccController();
    flows[1].start = At(second_start);
    const auto results = Simulate(PathConfig::Steady(Kbps(3000)), std::move(flows), TimeDelta::Seconds(120));
    const double first = results[0].ReceiveRate(At(60), At(120)) / Kbps(1);
    const double second = results[1].ReceiveRate(At(60), At(120)) / Kbps(1);
    EXPECT_GT(JainIndex(first, second), 0.8) << first << " and " << second << " kbps";
    EXPECT_GE(first + second, 2400);
    EXPECT_LE(first + second, 3000);
  }
}

// Without V2, GCC takes no notice of a loss between 2 and 10 %; with it, 8 % bound the rate at 100 kbps / (0.08 - 0.05)
// = 3.3 Mbps.
TEST(GccController, LossBasedBweV2IsOn) {
  PathConfig path = PathConfig::Steady(Kbps(8000));
  path.loss_ratio = 0.08;
  const FlowResult result = RunGcc(path, 60);
  EXPECT_GE(result.ReceiveRate(At(20), At(60)), Kbps(1200));
  EXPECT_LE(result.ReceiveRate(At(20), At(60)), Kbps(4500));
}

TEST(GccController, NeededLossReportsIn2023) {
  PathConfig path = PathConfig::Steady(Kbps(2500));
  path.loss_ratio = 0.2;
  const FlowResult with = RunGcc(path, 30);
  EXPECT_LE(with.ReceiveRate(At(10), At(30)), Kbps(1000));
  EXPECT_GE(with.ReceiveRate(At(10), At(30)), Kbps(20));
  FlowConfig flow;
  flow.loss_reports = false;
  const FlowResult without = RunGcc(path, 30, std::move(flow));
  EXPECT_EQ(without.ReceiveRate(At(10), At(30)) >= Kbps(1500), LibwebrtcMilestone() < 150);
  EXPECT_LE(without.ReceiveRate(At(10), At(30)), Kbps(2500));
}

// The media never need more than 500 kbps: only a probe can tell that the path has come to carry five times as much.
TEST(GccController, KeepsProbingWhenTheApplicationIsTheLimit) {
  FlowConfig flow;
  flow.max_media_rate = Kbps(500);
  const auto path = PathConfig::Steps({{At(0), Kbps(1000)}, {At(20), Kbps(5000)}}, Kbps(1000));
  const FlowResult result = RunGcc(path, 60, std::move(flow));
  EXPECT_GE(result.TargetAt(At(20)), Kbps(700));
  EXPECT_LE(result.TargetAt(At(20)), Kbps(1100));
  EXPECT_GE(result.TargetAt(At(60)), Kbps(2500));
  EXPECT_LE(result.TargetAt(At(60)), Kbps(5000));
}

// LossBasedBweV2's loss-limited estimate must not overflow, nor the bound that prevents it dull the reaction to loss.
TEST(GccController, LastsThroughALongCallWithoutLoss) {
  PathConfig path = PathConfig::Steady(Kbps(2500));
  path.loss_from = At(3600);
  path.loss_ratio = 0.2;
  const FlowResult result = RunGcc(path, 3630);
  EXPECT_GE(result.ReceiveRate(At(10), At(3600)), Kbps(2250));
  EXPECT_LE(result.ReceiveRate(At(10), At(3600)), Kbps(2500));
  EXPECT_LE(result.ReceiveRate(At(3610), At(3630)), Kbps(1000));
  EXPECT_GE(result.ReceiveRate(At(3610), At(3630)), Kbps(20));
}

TEST(GccController, IsTheSameTwice) {
  PathConfig path = PathConfig::Steady(Kbps(1000));
  path.loss_ratio = 0.02;
  const FlowResult first = bare::ExpectTheSameTwice(path, [](const PathConfig& same) { return RunGcc(same, 30); });
  path.seed = 2;
  EXPECT_NE(first.targets, RunGcc(path, 30).targets);
}

}  // namespace
}  // namespace weir
