// The series of the estimator's queueing delay and of the true one.
#include "flows/arrival_statistics_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "test_scenarios.h"

namespace weir::sim {
namespace {

// Largest absolute difference of two columns from a time on, or largest absolute value of one.
double Largest(const nlohmann::ordered_json& series, const char* column, const char* less = nullptr,
               double from_s = 0) {
  double largest = -1;
  for (size_t i = static_cast<size_t>(from_s / series["interval_s"].get<double>()); i < series[column].size(); ++i) {
    if (series[column][i].is_null()) continue;
    const double subtracted = less ? series[less][i].get<double>() : 0;
    largest = std::max(largest, std::abs(series[column][i].get<double>() - subtracted));
  }
  return largest;
}

double MeanOfColumn(const nlohmann::ordered_json& series, const char* column, double from_s) {
  double sum = 0;
  const auto first = static_cast<size_t>(from_s / series["interval_s"].get<double>());
  for (size_t i = first; i < series[column].size(); ++i) sum += series[column][i].get<double>();
  return sum / static_cast<double>(series[column].size() - first);
}

nlohmann::ordered_json ArrivalStatistics(const json& scenario, const std::string& controller = "fixed") {
  return RunScenario(scenario, controller)["flows"][0]["series"]["arrival_statistics"];
}

TEST(ArrivalStatisticsRecorderTest, AnEmptyPathHasNoQueue) {
  const auto series = ArrivalStatistics(Steady(2'000'000, 10.1));
  EXPECT_EQ(series["interval_s"], 0.2);
  for (const ArrivalStatisticsRecorder::Column& column : ArrivalStatisticsRecorder::kColumns) {
    EXPECT_EQ(series[std::string(column.name)].size(), 51u) << column.name;
  }
  // Sender reports get in the way of a packet now and then.
  EXPECT_LT(Largest(series, "true_queueing_delay_mean_ms"), 1.0);
  EXPECT_LT(Largest(series, "queueing_delay_mean_ms", "true_queueing_delay_mean_ms"), 0.1);
  EXPECT_LT(Largest(series, "base_delay_error_mean_ms"), 0.1);
}

TEST(ArrivalStatisticsRecorderTest, AFullQueueIsSeenAsItIs) {
  json scenario = Steady(1'000'000, 20);
  scenario["flows"][0]["fixed_rate_bps"] = 1'200'000;
  const auto series = ArrivalStatistics(scenario);
  // 300 ms hold the packet that is being sent, too.
  EXPECT_NEAR(series["true_queueing_delay_mean_ms"][90].get<double>(), 285.0, 10.0);
  EXPECT_LT(Largest(series, "queueing_delay_mean_ms", "true_queueing_delay_mean_ms"), 0.1);
  EXPECT_LT(Largest(series, "queueing_delay_min_ms", "true_queueing_delay_min_ms"), 0.1);
}

TEST(ArrivalStatisticsRecorderTest, JitterRouteAndClockAreNoQueue) {
  json scenario = Steady(2'000'000, 20);
  scenario["forward"]["jitter"] = {{"kind", "truncated_gaussian"}, {"standard_deviation_ms", 20}, {"maximum_ms", 60}};
  scenario["forward"]["one_way_delay_ms"] = {{"times_s", {0, 10}}, {"values_ms", {30, 90}}};
  scenario["flows"][0]["sender_clock_ppm"] = 1000;
  const auto series = ArrivalStatistics(scenario);
  EXPECT_LT(Largest(series, "true_queueing_delay_mean_ms"), 1.0);
  // The estimated path delay and queueing delay add up to the whole delay, jitter included.
  for (size_t i = 0; i < series["queueing_delay_mean_ms"].size(); ++i) {
    const double jitter_ms = series["queueing_delay_mean_ms"][i].get<double>() +
                             series["base_delay_error_mean_ms"][i].get<double>() -
                             series["true_queueing_delay_mean_ms"][i].get<double>();
    EXPECT_GT(jitter_ms, 10.0) << i;
    EXPECT_LT(jitter_ms, 60.0) << i;
  }
}

TEST(ArrivalStatisticsRecorderTest, RandomLossIsNeitherThatOfAQueueNorThatOfAPolicer) {
  const auto sending_at = [](int64_t rate_bps) {
    json scenario = Steady(1'000'000, 40);
    scenario["flows"][0]["fixed_rate_bps"] = rate_bps;
    return scenario;
  };
  json random = sending_at(500'000);
  random["forward"]["loss"] = {{"kind", "bernoulli"}, {"ratio", 0.04}};
  json policed = sending_at(320'000);
  policed["forward"]["loss"] = {{"kind", "policer"}, {"rate_bps", 300'000}, {"burst_bytes", 3'000}};
  const std::array<std::pair<json, std::string>, 3> cases{
      {{random, "chance"}, {policed, "policer"}, {sending_at(1'080'000), "queue"}}};
  for (const auto& [scenario, cause] : cases) {
    const auto flow = RunScenario(scenario, "fixed")["flows"][0];
    for (const auto& [name, lost] : flow["packets_lost_by_cause"].items()) {
      EXPECT_EQ(lost.get<int>(), name == cause ? flow["packets_lost"].get<int>() : 0) << cause << ", " << name;
    }
    EXPECT_GT(flow["packets_lost"], 20) << cause;
    const auto& series = flow["series"]["arrival_statistics"];
    const double truth = MeanOfColumn(series, "true_random_loss_10s", 10);
    EXPECT_NEAR(truth, cause == "chance" ? 0.04 : 0.0, 0.015) << cause;
    if (cause != "chance") continue;
    EXPECT_NEAR(MeanOfColumn(series, "loss_at_short_queue_10s", 10), truth, 0.005);
  }
}

TEST(ArrivalStatisticsRecorderTest, NothingWithoutAnEstimatorOrWithoutPackets) {
  EXPECT_FALSE(RunScenario(Steady(2'000'000, 2), "gcc")["flows"][0]["series"].contains("arrival_statistics"));
  const auto series = ArrivalStatistics(PathOf({{0, 2'000'000}, {1, 0}, {3, 2'000'000}}, 4));
  EXPECT_TRUE(series["true_queueing_delay_mean_ms"][10].is_null());
  EXPECT_GT(series["true_queueing_delay_mean_ms"][15].get<double>(), 100.0);
}

}  // namespace
}  // namespace weir::sim
