// Percentiles against sorted delays.
#include "link/delay_distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace weir::sim {
namespace {

TEST(DelayDistributionTest, AgreesWithSortedDelaysWithinHalfABin) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> delay_ms(4.0, 1.5);
  DelayDistribution distribution;
  std::vector<double> sorted_ms;
  double sum_ms = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto delay_ns = static_cast<int64_t>(delay_ms(random) * 1e6);
    distribution.Add(delay_ns);
    sorted_ms.push_back(static_cast<double>(delay_ns) * 1e-6);
    sum_ms += sorted_ms.back();
  }
  std::sort(sorted_ms.begin(), sorted_ms.end());
  const auto nearest_rank = [&](size_t percent) { return sorted_ms[sorted_ms.size() * percent / 100 - 1]; };
  const DelaySummary summary = distribution.Summary();
  EXPECT_NEAR(summary.p5_ms, nearest_rank(5), 0.005);
  EXPECT_NEAR(summary.p50_ms, nearest_rank(50), 0.005);
  EXPECT_NEAR(summary.p95_ms, nearest_rank(95), 0.005);
  EXPECT_NEAR(summary.p99_ms, nearest_rank(99), 0.005);
  EXPECT_NEAR(summary.mean_ms, sum_ms / 1e5, 1e-6);
  EXPECT_DOUBLE_EQ(summary.max_ms, sorted_ms.back());
}

TEST(DelayDistributionTest, LongDelaysFallIntoCoarseBinsAndNeverExceedTheMaximum) {
  DelayDistribution distribution;
  EXPECT_TRUE(distribution.empty());
  distribution.Add(5'000'400'000);
  EXPECT_FALSE(distribution.empty());
  EXPECT_NEAR(distribution.Summary().p50_ms, 5000.4, 0.5);
  EXPECT_LE(distribution.Summary().p99_ms, distribution.Summary().max_ms);
  distribution.Add(int64_t{10'000'000} * 1'000'000'000);
  EXPECT_DOUBLE_EQ(distribution.Summary().max_ms, 1e10);
  EXPECT_NEAR(distribution.Summary().p99_ms, 400'000.5, 1.0);
}

}  // namespace
}  // namespace weir::sim
