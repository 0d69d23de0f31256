#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "arrival/queueing_delay.h"

namespace weir {
namespace {

TEST(DelayNoiseTest, AQueueThatGrowsOrDrainsEvenlyIsNoNoise) {
  DelayNoise noise;
  EXPECT_EQ(noise.Seconds(), 0);
  for (int i = 0; i < 100; ++i) noise.Add(0.001 * i);
  EXPECT_NEAR(noise.Seconds(), 0, 1e-12);
  // One leap is not the middle of what happens.
  noise.Add(3);
  EXPECT_NEAR(noise.Seconds(), 0, 1e-12);
}

TEST(DelayNoiseTest, GrowsWithTheJitterAndForgetsIt) {
  std::mt19937_64 random(3);
  for (const double jitter_s : {0.002, 0.01, 0.05}) {
    std::normal_distribution<double> delay_s(0.1, jitter_s);
    DelayNoise noise;
    double sum_s = 0;
    for (int i = 0; i < 3200; ++i) {
      noise.Add(delay_s(random));
      if (i % 32 == 31) sum_s += noise.Seconds();
    }
    // The median of |a - 2b + c| of independent normal values is 1.65 standard deviations.
    EXPECT_NEAR(sum_s / 100, 1.65 * jitter_s, 0.2 * jitter_s);
    for (int i = 0; i < 32; ++i) noise.Add(0.02);
    EXPECT_EQ(noise.Seconds(), 0);
  }
}

TEST(SlidingMedianTest, IsThatOfTheSortedLastValues) {
  SlidingMedian<30> median;
  EXPECT_EQ(median.median(), 0);
  std::deque<double> last;
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    // In part of few different values, so that many are equal.
    const double value = i % 200 < 100 ? static_cast<double>(random() % 5) : static_cast<double>(random()) * 1e-9;
    median.Add(value);
    last.push_back(value);
    if (last.size() > 30) last.pop_front();
    std::vector<double> sorted(last.begin(), last.end());
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(median.median(), sorted[sorted.size() / 2]) << i;
  }
}

}  // namespace
}  // namespace weir
