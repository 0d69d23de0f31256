// Whole simulations: determinism, what is known of fixed rates and oracles, and the result record.
#include "run/simulation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "endpoints/controller_table.h"
#include "endpoints/controllers.h"
#include "test_scenarios.h"

namespace weir::sim {
namespace {

TEST(SimulationTest, FixedAtHalfTheCapacitySeesNoQueue) {
  for (const int64_t rate_bps : {200'000, 1'000'000, 20'000'000}) {
    json scenario = Steady(rate_bps, 30);
    scenario["flows"][0]["start_rate_bps"] = rate_bps / 2;
    const auto record = RunScenario(scenario, "fixed");
    const auto& flow = record["flows"][0];
    EXPECT_EQ(flow["packets_lost"], 0);
    // Half the capacity in RTP packets, somewhat more with UDP and IP.
    EXPECT_GT(Utilisation(flow), 0.49);
    EXPECT_LT(Utilisation(flow), 0.55);
    // No packet waits but for a sender report: each takes its own transmission time, of at most 1,252 bytes, and the
    // propagation delay.
    const double longest_ms = 25 + (1252 + 108) * 8e3 / static_cast<double>(rate_bps);
    EXPECT_LE(flow["one_way_delay_ms"]["max"].get<double>(), longest_ms + 1e-3);
    EXPECT_GT(flow["one_way_delay_ms"]["p5"].get<double>(), 25.0);
  }
}

TEST(SimulationTest, OracleFillsSteadyLinksWithoutQueue) {
  for (const int64_t rate_bps : {300'000, 1'000'000, 8'000'000, 30'000'000}) {
    const auto flow = RunScenario(Steady(rate_bps, 60), "oracle")["flows"][0];
    EXPECT_GE(Utilisation(flow), 0.95);
    EXPECT_LE(Utilisation(flow), 1.0);
    const double transmission_ms = 1252 * 8e3 / static_cast<double>(rate_bps);
    EXPECT_LT(flow["one_way_delay_ms"]["p95"].get<double>(), 25 + transmission_ms + 3);
    EXPECT_EQ(flow["packets_lost"], 0);
  }
}

TEST(SimulationTest, OracleFollowsSteps) {
  const json scenario = PathOf({{0, 4'000'000}, {10, 500'000}, {20, 0}, {21, 3'000'000}}, 30);
  const auto flow = RunScenario(scenario, "oracle")["flows"][0];
  EXPECT_GE(Utilisation(flow), 0.95);
  EXPECT_LT(flow["one_way_delay_ms"]["p95"].get<double>(), 60.0);
  EXPECT_GT(flow["one_way_delay_ms"]["max"].get<double>(), 900.0);  // what was in the queue when the outage began
  EXPECT_LT(flow["one_way_delay_ms"]["max"].get<double>(), 1100.0);
}

TEST(SimulationTest, OracleWithoutForesightIsAnIntervalLate) {
  const json scenario = PathOf({{0, 4'000'000}, {10.01, 500'000}}, 20);
  const auto delay_ms = [&](const char* controller) {
    const auto flow = RunScenario(scenario, controller)["flows"][0];
    EXPECT_GE(Utilisation(flow), 0.95);
    return flow["one_way_delay_ms"]["max"].get<double>();
  };
  // For up to 40 ms it sends 4 Mbps, which then wait for 0.5 Mbps.
  EXPECT_NEAR(delay_ms("oracle-present") - delay_ms("oracle"), 40 * (4 - 0.5) / 0.5, 100);
}

// REMB takes half a round trip, and the browser's encoder a second.
TEST(SimulationTest, OracleAtTheReceiverFollowsSteps) {
  const json scenario = PathOf({{0, 4'000'000}, {10, 1'000'000}}, 20);
  const auto flow = RunScenario(scenario, "oracle-receiver")["flows"][0];
  EXPECT_GE(Utilisation(flow), 0.85);
  EXPECT_LT(flow["one_way_delay_ms"]["p95"].get<double>(), 100.0);
}

// 85, 96 and 100 % of the capacity, by the aims of the presets.
TEST(SimulationTest, OraclesFollowTheObjective) {
  for (const std::string controller : {"oracle", "oracle-present", "oracle-receiver"}) {
    const auto utilisation = [&](const Objective& objective) {
      SimulationJob job = JobOf(Steady(4'000'000, 30), controller, 1);
      job.objective = objective;
      return Utilisation(RunJob(job, true)["flows"][0]);
    };
    EXPECT_NEAR(utilisation(kLatency), 0.85, 0.02) << controller;
    EXPECT_NEAR(utilisation(kBalanced), 0.96, 0.02) << controller;
    EXPECT_GT(utilisation(kThroughput), 0.98) << controller;
  }
}

TEST(SimulationTest, OracleLeavesRoomForCrossTrafficOnlyWhileItIsThere) {
  json scenario = Steady(4'000'000, 30);
  scenario["flows"].push_back({{"kind", "cbr"}, {"rate_bps", 3'000'000}, {"start_s", 10}, {"stop_s", 20}});
  const auto flow = RunScenario(scenario, "oracle")["flows"][0];
  for (const auto& [from_s, left_bps] : {std::pair(1.0, 4e6), std::pair(11.0, 1e6), std::pair(21.0, 4e6)}) {
    EXPECT_GT(MeanOver(flow, "receive_rate_bps", from_s, from_s + 8), 0.94 * left_bps) << from_s;
    EXPECT_LT(MeanOver(flow, "receive_rate_bps", from_s, from_s + 8), 0.98 * left_bps) << from_s;
  }
  EXPECT_EQ(flow["packets_lost"], 0);
  EXPECT_LT(flow["one_way_delay_ms"]["p95"].get<double>(), 45.0);
}

TEST(SimulationTest, TheSameJobGivesTheSameBytes) {
  json scenario = PathOf({{0, 2'500'000}, {8, 700'000}, {14, 0}, {15, 2'000'000}}, 20);
  scenario["forward"]["loss"] = {{"kind", "gilbert_elliott"},
                                 {"good_to_bad", 0.01},
                                 {"bad_to_good", 0.3},
                                 {"loss_good", 0.001},
                                 {"loss_bad", 0.3}};
  scenario["forward"]["jitter"] = {
      {"kind", "truncated_gaussian"}, {"standard_deviation_ms", 3.0}, {"maximum_ms", 12.0}};
  scenario["flows"][0]["media"] = {{"kind", "video"}, {"max_rate_bps", 2'500'000}};
  scenario["flows"].push_back({{"kind", "tcp"}, {"id", "tcp"}, {"start_s", 5.0}});
  scenario["flows"].push_back({{"kind", "tcp"}, {"id", "bbr"}, {"congestion_control", "bbr"}, {"start_s", 6.0}});
  scenario["flows"].push_back({{"kind", "tcp"},
                               {"id", "short"},
                               {"transfers", {{"bytes", {30'000, 50'000}}, {"idle_mean_s", 0.5}}},
                               {"start_s", 7.0}});
  scenario["flows"].push_back({{"kind", "cbr"}, {"id", "cbr"}, {"rate_bps", 200'000}, {"start_s", 3.0}});
  const auto model = std::make_shared<ModelFile>(std::string(WEIR_TEST_MODELS) + "/steering.onnx");
  for (const SimulatedController& row : SimulatedControllers()) {
    if (!IsAvailable(row)) continue;
    const std::string controller(row.name);
    const auto run = [&](uint64_t seed) {
      SimulationJob job = JobOf(scenario, controller, seed);
      job.model = model;
      return RunJob(job, true).dump();
    };
    const std::string first = run(7);
    EXPECT_EQ(first, run(7)) << controller;
    RunScenario(Steady(1'000'000, 3), "gcc", 3);
    EXPECT_EQ(first, run(7)) << controller << ", after another job";
    EXPECT_NE(first, run(8)) << controller << ", with another seed";
  }
}

TEST(SimulationTest, AScenariosNameIsPartOfItsSeed) {
  json scenario = Steady(1'000'000, 5);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.05}};
  const auto flows = [&](const std::string& name) {
    scenario["name"] = name;
    return RunScenario(scenario, "rule", 7)["flows"].dump();
  };
  const std::string flows_of_one = flows("one");
  EXPECT_NE(flows_of_one, flows("other"));
  EXPECT_EQ(flows_of_one, flows("one-without-jitter"));
}

TEST(SimulationTest, AJobThatFailsLeavesNoTrace) {
  const std::string before = RunScenario(Steady(1'000'000, 5), "rule").dump();
  EXPECT_THROW(RunScenario(Steady(1'000'000, 5), "no-such-controller"), ProgramError);
  EXPECT_THROW(RunScenario(Steady(1'000'000, 5), "shadow"), ProgramError);  // of calls
  EXPECT_THROW(RunScenario(Steady(1'000'000, 5), "weir"), ProgramError);    // without a model
  EXPECT_EQ(before, RunScenario(Steady(1'000'000, 5), "rule").dump());
}

TEST(SimulationTest, TheRecordAddsUp) {
  json scenario = Steady(1'000'000, 12.25);
  scenario["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.02}};
  const auto record = RunScenario(scenario, "rule");
  EXPECT_EQ(record["schema"], "weir.result/1");
  const auto& flow = record["flows"][0];
  const int64_t sent = flow["packets_sent"], received = flow["packets_received"], lost = flow["packets_lost"];
  EXPECT_LE(received + lost, sent);
  EXPECT_GE(received + lost, sent - 40);  // in flight at the end
  EXPECT_NEAR(flow["achievable_bytes"].get<double>(), 12.25 * 125'000, 1.0);
  EXPECT_EQ(record["path"]["queue_bytes"], 37'500);
  for (const auto& [name, series] : flow["series"].items()) {
    if (name == "frames") continue;
    EXPECT_EQ(series.size(), 123u) << name;
  }
  const auto& frames = flow["series"]["frames"];
  EXPECT_NEAR(static_cast<double>(frames["bytes"].size()), 12.25 * 30, 3.0);
  int64_t payload_bytes = 0;
  for (const auto& bytes : frames["bytes"]) payload_bytes += bytes.get<int64_t>();
  EXPECT_EQ(payload_bytes, flow["bytes_sent"].get<int64_t>() - sent * (24 + 28));
  for (const char* name : {"capacity_bps", "queueing_delay_ms"}) EXPECT_EQ(record["series"][name].size(), 123u) << name;
  const double full_steps = MeanOver(flow, "receive_rate_bps", 0, 12.2) * 12.2;
  EXPECT_NEAR((full_steps + flow["series"]["receive_rate_bps"][122].get<double>() * 0.05) / 8,
              flow["bytes_received"].get<double>(), 50.0);
  int64_t lost_in_series = 0;
  for (const auto& step : flow["series"]["packets_lost"]) lost_in_series += step.get<int64_t>();
  EXPECT_EQ(lost_in_series, lost);
  EXPECT_EQ(flow["guard"]["slew"], 0);
  EXPECT_EQ(flow["estimator"]["decisions"], 122);
}

TEST(SimulationTest, LossesAreCountedByTheirCause) {
  const auto sending_at = [](int64_t rate_bps) {
    json scenario = Steady(1'000'000, 40);
    scenario["flows"][0]["fixed_rate_bps"] = rate_bps;
    return scenario;
  };
  json random = sending_at(500'000);
  random["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.04}};
  json policed = sending_at(320'000);
  policed["forward"]["loss"] = {{"kind", "policer"}, {"rate_bps", 300'000}, {"burst_bytes", 3'000}};
  const std::pair<json, std::string> cases[] = {
      {random, "chance"}, {policed, "policer"}, {sending_at(1'080'000), "queue"}};
  for (const auto& [scenario, cause] : cases) {
    const auto flow = RunScenario(scenario, "fixed")["flows"][0];
    for (const auto& [name, lost] : flow["packets_lost_by_cause"].items()) {
      EXPECT_EQ(lost.get<int>(), name == cause ? flow["packets_lost"].get<int>() : 0) << cause << ", " << name;
    }
    EXPECT_GT(flow["packets_lost"], 20) << cause;
  }
}

TEST(SimulationTest, AnOutageQueuesAndIsTimedAsHighDelay) {
  json scenario = PathOf({{0, 2'000'000}, {5, 0}, {7, 2'000'000}}, 15);
  scenario["flows"][0]["fixed_rate_bps"] = 400'000;
  scenario["forward"]["queue"] = {{"bytes", 10'000'000}};
  const auto flow = RunScenario(scenario, "fixed")["flows"][0];
  EXPECT_EQ(flow["packets_lost"], 0);
  EXPECT_GT(flow["one_way_delay_ms"]["max"].get<double>(), 1'990.0);
  EXPECT_LT(flow["one_way_delay_ms"]["max"].get<double>(), 2'100.0);
  // From the outage's end until the backlog of 2 s at a fifth of the capacity is gone, save its last 400 ms.
  EXPECT_GT(flow["seconds_above_400_ms"].get<double>(), 0.3);
  EXPECT_LT(flow["seconds_above_400_ms"].get<double>(), 0.55);
}

TEST(SimulationTest, ReverseFlowsAreMeasuredOnTheReverseLink) {
  json scenario = Steady(5'000'000, 20);
  scenario["reverse"] = {{"capacity", {{"times_s", {0.0}}, {"rates_bps", {1'000'000}}}}, {"one_way_delay_ms", 40.0}};
  scenario["flows"][0]["direction"] = "reverse";
  const auto flow = RunScenario(scenario, "oracle")["flows"][0];
  EXPECT_GE(Utilisation(flow), 0.95);
  EXPECT_EQ(flow["base_one_way_delay_ms"], 40.0);
  EXPECT_NEAR(flow["achievable_bytes"].get<double>(), 20 * 125'000, 1.0);
}

}  // namespace
}  // namespace weir::sim
