// What a path could carry of media, by hand; and what controllers make of it on paths that serve in slots.
#include "endpoints/carriable.h"

#include <gtest/gtest.h>

#include <string>

#include "core/random.h"
#include "simulation_fixture.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

// Filler of at most `media_bps`; 0 for a video of 2.5 Mbps.
json WithMedia(json scenario, int64_t media_bps) {
  scenario["flows"][0]["media"] = {{"kind", "filler"}, {"max_rate_bps", media_bps}};
  if (media_bps == 0) scenario["flows"][0]["media"] = {{"kind", "video"}};
  return scenario;
}

// Half of every 60 ms nothing, then `rate_bps`.
json Slotted(int64_t rate_bps, double duration_s) {
  json scenario = PathOf({{0.0, 0}, {0.03, rate_bps}}, duration_s);
  scenario["forward"]["capacity"]["period_s"] = 0.06;
  return scenario;
}

double Bits(const json& scenario) {
  const Scenario parsed = ParseScenario(scenario);
  return Carriable(parsed, parsed.flows[0]).BitsUntil(parsed.duration_ns());
}

// A media rate as an IP packet carries it.
double OnTheWire(double media_bps) { return media_bps * (1200 + 24 + 28) / (1200 + 24); }

TEST(CarriableTest, ConstantCapacityIsTheSmallerOfBoth) {
  EXPECT_NEAR(Bits(WithMedia(Steady(1'000'000, 60), 50'000'000)), 60e6, 1);
  EXPECT_NEAR(Bits(WithMedia(Steady(10'000'000, 60), 2'000'000)), 60 * OnTheWire(2e6), 100);
  EXPECT_EQ(Bits(WithMedia(Steady(0, 60), 2'000'000)), 0);
}

TEST(CarriableTest, SlotsCarryWhatTheirMeanDoes) {
  EXPECT_NEAR(Bits(WithMedia(Slotted(5'000'000, 60), 50'000'000)), 60 * 2.5e6, 1);
  EXPECT_NEAR(Bits(WithMedia(Slotted(10'000'000, 60), 2'000'000)), 60 * OnTheWire(2e6), 1e3);
}

TEST(CarriableTest, OutagesAreNotMadeUpFor) {
  // From 10 to 15 s nothing; 50 ms of media wait for its end.
  const json outage = WithMedia(PathOf({{0, 10'000'000}, {10, 0}, {15, 10'000'000}}, 60), 2'000'000);
  EXPECT_NEAR(Bits(outage), 55.05 * OnTheWire(2e6), 100);
  json without_pause = outage;
  without_pause["flows"][0]["pauses_s"] = {{14.99, 20.0}};
  EXPECT_NEAR(Bits(without_pause), 50 * OnTheWire(2e6), 100);
}

TEST(CarriableTest, PiecesSumUpToTheWholeAndPeriodsMayBeTiny) {
  json scenario = WithMedia(PathOf({{0, 1'500'000}, {0.013, 0}, {0.041, 6'000'000}, {0.06, 1'000'000}}, 60), 2'000'000);
  scenario["forward"]["capacity"]["period_s"] = 0.077;
  scenario["flows"][0]["start_s"] = 0.5;
  scenario["flows"][0]["pauses_s"] = {{10.0, 20.0}, {30.0, 30.01}};
  const Scenario parsed = ParseScenario(scenario);
  Carriable carriable(parsed, parsed.flows[0]);
  RandomStream random(1, 0);
  double sum = 0;
  int64_t now_ns = 0;
  while (now_ns < parsed.duration_ns()) {
    now_ns = std::min(parsed.duration_ns(), now_ns + random.UniformInteger(0, 30 * kMs));
    sum += carriable.BitsUntil(now_ns);
  }
  EXPECT_NEAR(sum, Bits(scenario), 1);
  // A slot of 2 ns; 5e10 of them would take minutes.
  scenario = WithMedia(PathOf({{0, 0}, {1e-9, 4'000'000}}, 100), 50'000'000);
  scenario["forward"]["capacity"]["period_s"] = 2e-9;
  EXPECT_NEAR(Bits(scenario), 100 * 2e6, 1e3);
}

struct SlotCase {
  std::string controller;
  int64_t rate_bps;
  // 0: a video of 2.5 Mbps.
  int64_t media_bps;
  // Of the controller "fixed".
  int64_t fixed_bps;
};

class SlotTest : public ::testing::TestWithParam<SlotCase> {};

TEST_P(SlotTest, AreNotCalledUnderUtilised) {
  const SlotCase& one = GetParam();
  json scenario = WithMedia(Slotted(one.rate_bps, 60), one.media_bps);
  if (one.fixed_bps) scenario["flows"][0]["fixed_rate_bps"] = one.fixed_bps;
  const double utilisation = Utilisation(RunScenario(scenario, one.controller)["flows"][0]);
  EXPECT_GE(utilisation, 0.9);
  EXPECT_LE(utilisation, 1.01);
}

INSTANTIATE_TEST_SUITE_P(Carriable, SlotTest,
                         ::testing::Values(SlotCase{"oracle", 10'000'000, 0, 0},
                                           SlotCase{"fixed", 5'000'000, 50'000'000, 2'400'000},
                                           SlotCase{"fixed", 10'000'000, 0, 3'000'000},
                                           SlotCase{"fixed", 20'000'000, 0, 3'000'000}),
                         [](const auto& info) { return info.param.controller + std::to_string(info.index); });

TEST(CarriableTest, AQueueThatOutlastsAnOutageIsAllThatGoesBeyond) {
  // 2 Mbps into 5 s of outage: a queue of 300 ms of the mean capacity is filled and carried afterwards.
  json scenario = WithMedia(PathOf({{0, 10'000'000}, {20, 0}, {25, 10'000'000}}, 60), 2'000'000);
  scenario["flows"][0]["fixed_rate_bps"] = 3'000'000;
  const auto record = RunScenario(scenario, "fixed");
  const auto& flow = record["flows"][0];
  const double beyond = flow["bytes_received"].get<double>() - flow["carriable_bytes"].get<double>();
  EXPECT_LE(beyond, record["path"]["queue_bytes"].get<double>());
  EXPECT_GT(Utilisation(flow), 0.97);
}

}  // namespace
}  // namespace weir::sim
