// The achievable throughput computed by hand, and the controllers' share of it on paths that serve in slots.
#include "endpoints/achievable.h"

#include <gtest/gtest.h>

#include <string>

#include "core/random.h"
#include "endpoints/oracle.h"
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

// Nothing, then `rate_bps`, for so many milliseconds each, again and again.
json Slots(int64_t off_ms, int64_t on_ms, int64_t rate_bps, double duration_s) {
  json scenario = PathOf({{0.0, 0}, {static_cast<double>(off_ms) / 1e3, rate_bps}}, duration_s);
  scenario["forward"]["capacity"]["period_s"] = static_cast<double>(off_ms + on_ms) / 1e3;
  return scenario;
}

json Policed(json scenario, int64_t rate_bps, int64_t burst_bytes) {
  scenario["forward"]["loss"] = {{"kind", "policer"}, {"rate_bps", rate_bps}, {"burst_bytes", burst_bytes}};
  return scenario;
}

double Bits(const json& scenario) {
  const Scenario parsed = ParseScenario(WholeScenario(scenario));
  return AchievableThroughput(parsed, parsed.flows[0]).BitsUntil(parsed.end());
}

// A media rate as an IP packet carries it.
double OnTheWire(double media_bps) { return media_bps * (1200 + 24 + 28) / (1200 + 24); }

TEST(AchievableTest, ConstantCapacityIsTheSmallerOfBoth) {
  EXPECT_NEAR(Bits(WithMedia(Steady(1'000'000, 60), 50'000'000)), 60e6, 1);
  EXPECT_NEAR(Bits(WithMedia(Steady(10'000'000, 60), 2'000'000)), 60 * OnTheWire(2e6), 100);
  EXPECT_EQ(Bits(WithMedia(Steady(0, 60), 2'000'000)), 0);
}

TEST(AchievableTest, SlotsCarryWhatTheirMeanDoes) {
  EXPECT_NEAR(Bits(WithMedia(Slots(30, 30, 5'000'000, 60), 50'000'000)), 60 * 2.5e6, 1);
  EXPECT_NEAR(Bits(WithMedia(Slots(30, 30, 10'000'000, 60), 2'000'000)), 60 * OnTheWire(2e6), 1e3);
  EXPECT_NEAR(Bits(WithMedia(Slots(80, 20, 12'500'000, 60), 2'000'000)), 60 * OnTheWire(2e6), 1e3);
}

TEST(AchievableTest, APolicerBoundsTheMedia) {
  const json policed = Policed(WithMedia(Steady(10'000'000, 60), 50'000'000), 2'000'000, 20'000);
  const double burst = 20'000 * 8;
  EXPECT_NEAR(Bits(policed), 60 * 2e6 + burst, 1);
  EXPECT_NEAR(Bits(Policed(WithMedia(Steady(1'000'000, 60), 50'000'000), 2'000'000, 20'000)), 60e6, 1);
  // It stands before the queue, and so does not know of slots.
  EXPECT_NEAR(Bits(Policed(WithMedia(Slots(30, 30, 10'000'000, 60), 50'000'000), 4'000'000, 20'000)), 60 * 4e6 + burst,
              1e3);
  json unlimited = policed;
  unlimited["forward"]["capacity"] = nullptr;
  EXPECT_NEAR(Bits(unlimited), 60 * 2e6 + burst, 1);
}

TEST(AchievableTest, APolicersBucketFillsWithWhatIsLeftOfItsRate) {
  // 1 MB: 8 Mbit pass at once at the capacity, in 1 s beyond 2 Mbps.
  const json steady = Policed(WithMedia(Steady(10'000'000, 60), 50'000'000), 2'000'000, 1'000'000);
  EXPECT_NEAR(Bits(steady), 60 * 2e6 + 8e6, 1);
  // Media below the policer's rate needs no bucket; between both rates it uses the bucket slowly.
  EXPECT_NEAR(Bits(Policed(WithMedia(Steady(10'000'000, 60), 1'000'000), 2'000'000, 1'000'000)), 60 * OnTheWire(1e6),
              100);
  EXPECT_NEAR(Bits(Policed(WithMedia(Steady(10'000'000, 60), 2'000'000), 2'000'000, 1'000'000)), 60 * OnTheWire(2e6),
              100);
  // 10 s without media fill it again, and so do 3 s of half the policer's rate, less 100 ms of waiting media.
  json paused = steady;
  paused["flows"][0]["pauses_s"] = {{20.0, 30.0}};
  EXPECT_NEAR(Bits(paused), 50 * 2e6 + 2 * 8e6, 1);
  json dipping = steady;
  dipping["forward"]["capacity"] =
      PathOf({{0, 10'000'000}, {20, 1'000'000}, {23, 10'000'000}}, 60)["forward"]["capacity"];
  EXPECT_NEAR(Bits(dipping), 60 * 2e6 + 8e6, 1);
  json periodic = dipping;
  periodic["forward"]["capacity"] = PathOf({{0, 10'000'000}, {2, 1'000'000}}, 60)["forward"]["capacity"];
  periodic["forward"]["capacity"]["period_s"] = 3.0;
  EXPECT_NEAR(Bits(periodic), 60 * 2e6 + 8e6 - 1e6, 1);
}

TEST(AchievableTest, APolicedLinkIsFullAtItsPolicersRate) {
  for (const bool limited : {true, false}) {
    json scenario = Policed(WithMedia(Steady(10'000'000, 60), 50'000'000), 2'000'000, 20'000);
    if (!limited) scenario["forward"]["capacity"] = nullptr;
    const auto oracle = RunScenario(scenario, "oracle");
    EXPECT_EQ(oracle["path"]["mean_capacity_bps"], 2e6);
    EXPECT_EQ(oracle["series"]["capacity_bps"][100], 2'000'000);
    EXPECT_GT(Utilisation(oracle["flows"][0]), 0.95);
    EXPECT_LT(Utilisation(oracle["flows"][0]), 0.97);
    EXPECT_EQ(oracle["flows"][0]["packets_lost"], 0);
  }
  json scenario = Policed(WithMedia(Steady(10'000'000, 60), 50'000'000), 2'000'000, 20'000);
  scenario["flows"][0]["fixed_rate_bps"] = 4'000'000;
  const auto flow = RunScenario(scenario, "fixed")["flows"][0];
  EXPECT_NEAR(Utilisation(flow), 1.0, 0.005);
  // How much is too much the sender itself limits: it lowers its rate while more than a tenth is lost.
  EXPECT_GT(flow["packets_lost"].get<double>(), 0.05 * flow["packets_sent"].get<double>());
  EXPECT_LT(flow["one_way_delay_ms"]["max"].get<double>(), 45);
}

TEST(AchievableTest, OutagesAreNotMadeUpFor) {
  // From 10 to 15 s nothing; 100 ms of media wait for its end.
  const json outage = WithMedia(PathOf({{0, 10'000'000}, {10, 0}, {15, 10'000'000}}, 60), 2'000'000);
  EXPECT_NEAR(Bits(outage), 55.1 * OnTheWire(2e6), 100);
  json without_pause = outage;
  without_pause["flows"][0]["pauses_s"] = {{14.99, 20.0}};
  EXPECT_NEAR(Bits(without_pause), 50 * OnTheWire(2e6), 100);
}

TEST(AchievableTest, WithoutVideoItIsAudioAlone) {
  json scenario = WithMedia(Steady(10'000'000, 60), 0);
  scenario["flows"][0]["media"]["video_pauses_s"] = {{20.0, 40.0}, {50.0, 70.0}};
  // 50 packets of 80 bytes a second, each with 24 bytes of RTP and 28 of UDP and IPv4.
  const auto audio_bps = [](double packets_per_second) { return 32e3 + packets_per_second * 24 * 8; };
  scenario["flows"][0]["media"]["audio_packets_per_second"] = 1.0;
  EXPECT_NEAR(Bits(scenario), 60 * audio_bps(1) + 30 * OnTheWire(2.5e6), 2e5);
  // The call's own pause is less than that.
  scenario["flows"][0]["pauses_s"] = {{15.0, 30.0}, {40.0, 45.0}};
  EXPECT_NEAR(Bits(scenario), 40 * audio_bps(1) + 20 * OnTheWire(2.5e6), 2e5);
  scenario["flows"][0]["media"]["audio_rate_bps"] = 0;
  EXPECT_NEAR(Bits(scenario), 20 * OnTheWire(2.5e6), 2e5);
  scenario["flows"][0]["media"]["video_pauses_s"] = {{0.0, 60.0}};
  EXPECT_EQ(Bits(scenario), 0);
}

TEST(AchievableTest, AMutedCallUsesWhatItMay) {
  json scenario = WithMedia(Steady(4'000'000, 60), 0);
  scenario["flows"][0]["media"]["video_pauses_s"] = {{20.0, 40.0}};
  scenario["flows"][0]["fixed_rate_bps"] = 2'600'000;
  for (const double packets_per_second : {1.0, 50.0}) {
    scenario["flows"][0]["media"]["audio_packets_per_second"] = packets_per_second;
    const auto flow = RunScenario(scenario, "fixed")["flows"][0];
    EXPECT_NEAR(Utilisation(flow), 1.0, 0.03) << packets_per_second;
    EXPECT_EQ(flow["video_pauses_s"], json({{20.0, 40.0}}));
    EXPECT_LT(MeanOver(flow, "receive_rate_bps", 21, 40), 60e3);
  }
}

TEST(AchievableTest, PiecesSumUpToTheWholeAndPeriodsMayBeTiny) {
  json scenario = WithMedia(PathOf({{0, 1'500'000}, {0.013, 0}, {0.041, 6'000'000}, {0.06, 1'000'000}}, 60), 2'000'000);
  scenario["forward"]["capacity"]["period_s"] = 0.077;
  scenario["flows"][0]["start_s"] = 0.5;
  scenario["flows"][0]["pauses_s"] = {{10.0, 20.0}, {30.0, 30.01}};
  const Scenario parsed = ParseScenario(WholeScenario(scenario));
  AchievableThroughput achievable(parsed, parsed.flows[0]);
  RandomStream random(1, 0);
  double sum = 0;
  SimTime now = kTimeZero;
  while (now < parsed.end()) {
    now = std::min(parsed.end(), now + SimDuration::Nanos(random.UniformInteger(0, (30 * kMs).ns())));
    sum += achievable.BitsUntil(now);
  }
  EXPECT_NEAR(sum, Bits(scenario), 1);
  // A slot of 2 ns; 5e10 of them would take minutes.
  scenario = WithMedia(PathOf({{0, 0}, {1e-9, 4'000'000}}, 100), 50'000'000);
  scenario["forward"]["capacity"]["period_s"] = 2e-9;
  EXPECT_NEAR(Bits(scenario), 100 * 2e6, 1e3);
}

struct Slot {
  int64_t off_ms;
  int64_t on_ms;
};

class SlotTest : public ::testing::TestWithParam<Slot> {};

// A path with a mean of 2.5 Mbps, and media of more, or (0: a video of 2 Mbps) of less than that.
TEST_P(SlotTest, IsFilledAndNoMore) {
  const auto [off_ms, on_ms] = GetParam();
  for (const int64_t media_bps : {50'000'000, 2'000'000, 0}) {
    json scenario = WithMedia(Slots(off_ms, on_ms, 2'500'000 * (off_ms + on_ms) / on_ms, 60), media_bps);
    if (media_bps == 0) scenario["flows"][0]["media"]["max_rate_bps"] = 2'000'000;
    scenario["flows"][0]["fixed_rate_bps"] = 2'450'000;
    for (const char* controller : {"oracle", "fixed"}) {
      const auto flow = RunScenario(scenario, controller)["flows"][0];
      EXPECT_GE(Utilisation(flow), 0.95) << controller << ", " << media_bps;
      // Video has key frames beyond its rate.
      EXPECT_LE(Utilisation(flow), media_bps == 0 ? 1.025 : 1.01) << controller << ", " << media_bps;
      EXPECT_EQ(flow["packets_lost"], 0) << controller << ", " << media_bps;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AchievableThroughput, SlotTest,
                         ::testing::Values(Slot{5, 5}, Slot{10, 10}, Slot{20, 10}, Slot{30, 30}, Slot{33, 34},
                                           Slot{50, 20}, Slot{40, 10}, Slot{50, 50}, Slot{80, 20}, Slot{90, 10}),
                         [](const auto& info) {
                           return std::to_string(info.param.off_ms) + "_" + std::to_string(info.param.on_ms);
                         });

TEST(AchievableTest, AQueueThatOutlastsAnOutageIsAllThatGoesBeyond) {
  // 2 Mbps into 5 s of outage: a queue of 300 ms of the mean capacity is filled and carried afterwards.
  json scenario = WithMedia(PathOf({{0, 10'000'000}, {20, 0}, {25, 10'000'000}}, 60), 2'000'000);
  scenario["flows"][0]["fixed_rate_bps"] = 3'000'000;
  const auto record = RunScenario(scenario, "fixed");
  const auto& flow = record["flows"][0];
  const double beyond = flow["bytes_received"].get<double>() - flow["achievable_bytes"].get<double>();
  EXPECT_LE(beyond, record["path"]["queue_bytes"].get<double>());
  EXPECT_GT(Utilisation(flow), 0.97);
}

TEST(OracleRateTest, PresetsHaveTheirAims) {
  const OracleAim balanced = AimOf(kBalanced), throughput = AimOf(kThroughput), latency = AimOf(kLatency);
  EXPECT_DOUBLE_EQ(balanced.utilisation, 0.96);
  EXPECT_EQ(balanced.drain_time, 50 * kMs);
  EXPECT_DOUBLE_EQ(throughput.utilisation, 1.0);
  EXPECT_EQ(throughput.drain_time, 200 * kMs);
  EXPECT_DOUBLE_EQ(latency.utilisation, 0.85);
  EXPECT_EQ(latency.drain_time, 30 * kMs);
}

TEST(OracleRateTest, MoreWeightOfThroughputAsksForMore) {
  OracleAim before{.utilisation = 0, .drain_time = SimDuration::Zero()};
  for (int percent = 5; percent <= 85; percent += 5) {
    const float weight = static_cast<float>(percent) / 100;
    const OracleAim aim = AimOf({.throughput = weight, .latency = 0.9f - weight, .loss = 0.1f});
    EXPECT_GE(aim.utilisation, before.utilisation) << percent;
    EXPECT_GE(aim.drain_time, before.drain_time) << percent;
    EXPECT_GE(aim.utilisation, 0.85);
    EXPECT_LE(aim.utilisation, 1.0);
    before = aim;
  }
  EXPECT_EQ(AimOf({.throughput = 0.36f, .latency = 0.04f, .loss = 0.6f}).drain_time, AimOf(kThroughput).drain_time);
}

}  // namespace
}  // namespace weir::sim
