#include "scenario/capacity_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

TEST(CapacityTraceTest, RepeatsWithItsPeriod) {
  const CapacityTrace trace({0, 3 * kSecond, 4 * kSecond}, {1'000'000, 0, 5'000'000}, 7 * kSecond);
  const CapacityTrace once({0, 3 * kSecond, 4 * kSecond}, {1'000'000, 0, 5'000'000});
  RandomStream random(1, 0);
  for (int i = 0; i < 2000; ++i) {
    const int64_t offset_ns = random.UniformInteger(0, 7 * kSecond - 1);
    const int64_t periods = random.UniformInteger(0, 1000);
    EXPECT_EQ(trace.RateAt(offset_ns + periods * 7 * kSecond), once.RateAt(offset_ns));
  }
  // 3 s of 1 Mbps and 3 s of 5 Mbps.
  EXPECT_EQ(trace.BitsBetween(0, 7 * kSecond), 18'000'000);
  EXPECT_EQ(trace.BitsBetween(2 * kSecond, 2 * kSecond + 700 * kSecond), 1'800'000'000);
  EXPECT_EQ(trace.BitsBetween(2 * kSecond, 704 * kSecond + 500 * kMs), 1'800'000'000 + 1'000'000 + 2'500'000);
}

TEST(CapacityTraceTest, NoTimeCarriesNothing) {
  const CapacityTrace trace({0, kSecond}, {1'000'000, 8'000'000}, 2 * kSecond);
  EXPECT_EQ(trace.BitsBetween(5, 5), 0);
  EXPECT_EQ(trace.BitsBetween(6, 5), 0);
}

TEST(CapacityTraceTest, TransmissionThatNeverEnds) {
  const CapacityTrace stops({0, kSecond}, {1'000'000, 0});
  EXPECT_EQ(stops.TransmissionEnd(0, 1'000'000), kSecond);
  EXPECT_EQ(stops.TransmissionEnd(0, 1'000'001), std::nullopt);
  EXPECT_EQ(stops.TransmissionEnd(2 * kSecond, 1), std::nullopt);
  EXPECT_EQ(CapacityTrace({0, 1}, {0, 0}, 5).TransmissionEnd(0, 1), std::nullopt);
  // One bit per second for 1 ns of every 10 s: a million bits would take longer than time is counted.
  EXPECT_EQ(CapacityTrace({0, 1}, {1, 0}, 10 * kSecond).TransmissionEnd(0, 1'000'000), std::nullopt);
}

TEST(CapacityTraceTest, TransmissionOverManyPeriods) {
  const CapacityTrace trace({0, kSecond}, {1'000'000, 0}, 10 * kSecond);
  EXPECT_EQ(trace.TransmissionEnd(0, 1'000'000), kSecond);
  EXPECT_EQ(trace.TransmissionEnd(0, 1'000'001), 10 * kSecond + 1'000);
  EXPECT_EQ(trace.TransmissionEnd(500 * kMs, 1'000'000'000'000), 10'000'000 * kSecond + 500 * kMs);
}

TEST(CapacityTraceTest, TransmissionEndIsTheFirstInstantAtWhichTheIntegralSuffices) {
  RandomStream random(7, 0);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> times{0};
    std::vector<int64_t> rates;
    const int64_t segments = random.UniformInteger(1, 12);
    for (int64_t i = 0; i < segments; ++i) {
      rates.push_back(random.Bernoulli(0.2) ? 0 : random.UniformInteger(1, 20'000'000));
      if (i > 0) times.push_back(times.back() + random.UniformInteger(1, 200 * kMs));
    }
    std::optional<int64_t> period;
    if (random.Bernoulli(0.5)) period = times.back() + random.UniformInteger(1, 200 * kMs);
    const CapacityTrace trace(times, rates, period);
    int64_t previous_end_ns = 0;
    for (int i = 0; i < 50; ++i) {
      const bool back_to_back = random.Bernoulli(0.5);
      const int64_t start_ns = back_to_back ? previous_end_ns : random.UniformInteger(0, 5 * kSecond);
      const int64_t bits = random.UniformInteger(1, 1'000'000);
      const auto end_ns = trace.TransmissionEnd(start_ns, bits);
      if (!end_ns) {
        EXPECT_LT(trace.BitsBetween(start_ns, start_ns + 1'000'000 * kSecond), bits);
        continue;
      }
      EXPECT_GE(trace.BitsBetween(start_ns, *end_ns), bits);
      EXPECT_LT(trace.BitsBetween(start_ns, *end_ns - 1), bits);
      previous_end_ns = *end_ns;
    }
  }
}

TEST(CapacityTraceTest, MeanIsOfOnePeriodOrOfTheDuration) {
  EXPECT_DOUBLE_EQ(CapacityTrace({0, kSecond}, {1'000'000, 4'000'000}, 4 * kSecond).MeanRateBps(kSecond), 3'250'000);
  EXPECT_DOUBLE_EQ(CapacityTrace({0, kSecond}, {1'000'000, 4'000'000}).MeanRateBps(4 * kSecond), 3'250'000);
  EXPECT_DOUBLE_EQ(CapacityTrace({0, kSecond}, {1'000'000, 4'000'000}).MeanRateBps(500 * kMs), 1'000'000);
}

TEST(CapacityTraceTest, DelayedIsTheSameTraceLater) {
  const CapacityTrace endless({0, 30, 70}, {5, 0, 9});
  const CapacityTrace periodic({0, 30, 70}, {5, 0, 9}, 100);
  for (const int64_t delay_ns : {0, 1, 29, 30, 31, 70, 99, 100, 101, 12'345}) {
    const CapacityTrace later = endless.Delayed(delay_ns);
    const CapacityTrace later_periodic = periodic.Delayed(delay_ns);
    for (int64_t t = 0; t < 350; ++t) {
      ASSERT_EQ(later.RateAt(t + delay_ns), endless.RateAt(t)) << delay_ns << " " << t;
      ASSERT_EQ(later_periodic.RateAt(t + delay_ns), periodic.RateAt(t)) << delay_ns << " " << t;
    }
    EXPECT_EQ(later.RateAt(0), 5);
    EXPECT_EQ(later_periodic.period_ns(), periodic.period_ns());
  }
  const CapacityTrace slow({0, 300'000'000}, {8'000, 1'000}, 1'000'000'000);
  EXPECT_EQ(slow.Delayed(700'000'000).MeanRateBps(1), slow.MeanRateBps(1));
}

TEST(RandomStreamTest, MomentsOfTheDistributions) {
  RandomStream random(3, 5);
  constexpr int kDraws = 400'000;
  double uniform = 0, gaussian = 0, gaussian_squares = 0, exponential = 0, integer = 0;
  for (int i = 0; i < kDraws; ++i) {
    uniform += random.Uniform();
    const double g = random.Gaussian();
    gaussian += g;
    gaussian_squares += g * g;
    exponential += random.Exponential(2.0);
    integer += static_cast<double>(random.UniformInteger(1, 6));
  }
  // Five standard deviations of each mean.
  const double root = std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(uniform / kDraws, 0.5, 5 * 0.2887 / root);
  EXPECT_NEAR(gaussian / kDraws, 0.0, 5 / root);
  EXPECT_NEAR(gaussian_squares / kDraws, 1.0, 5 * std::sqrt(2.0) / root);
  EXPECT_NEAR(exponential / kDraws, 2.0, 5 * 2.0 / root);
  EXPECT_NEAR(integer / kDraws, 3.5, 5 * 1.708 / root);
}

TEST(RandomStreamTest, StreamsAndSeedsDiffer) {
  RandomStream a(1, 0), same(1, 0), other_stream(1, 1), other_seed(2, 0);
  int equal_to_stream = 0, equal_to_seed = 0;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t draw = a.Next();
    EXPECT_EQ(draw, same.Next());
    equal_to_stream += draw == other_stream.Next();
    equal_to_seed += draw == other_seed.Next();
  }
  EXPECT_EQ(equal_to_stream, 0);
  EXPECT_EQ(equal_to_seed, 0);
}

}  // namespace
}  // namespace weir::sim
