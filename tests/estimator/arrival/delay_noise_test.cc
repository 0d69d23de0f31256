#include "weir/arrival/delay_noise.h"

#include <gtest/gtest.h>

#include <random>

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

}  // namespace
}  // namespace weir
