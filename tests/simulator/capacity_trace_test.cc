#include "scenario/capacity_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "simulation_fixture.h"

namespace weir::sim {
namespace {

TEST(CapacityTraceTest, RepeatsWithItsPeriod) {
  const CapacityTrace trace({kTimeZero, 3 * kSecond, 4 * kSecond}, {1'000'000, 0, 5'000'000}, 7 * kSecond);
  const CapacityTrace once({kTimeZero, 3 * kSecond, 4 * kSecond}, {1'000'000, 0, 5'000'000});
  RandomStream random(1, 0);
  for (int i = 0; i < 2000; ++i) {
    const Ns offset = random.UniformInteger(0, (7 * kSecond).ns() - 1);
    const int64_t periods = random.UniformInteger(0, 1000);
    EXPECT_EQ(trace.RateAt(offset + periods * 7 * kSecond), once.RateAt(offset));
  }
  // 3 s of 1 Mbps and 3 s of 5 Mbps.
  EXPECT_EQ(trace.BitsBetween(kTimeZero, 7 * kSecond), 18'000'000);
  EXPECT_EQ(trace.BitsBetween(2 * kSecond, 2 * kSecond + 700 * kSecond), 1'800'000'000);
  EXPECT_EQ(trace.BitsBetween(2 * kSecond, 704 * kSecond + 500 * kMs), 1'800'000'000 + 1'000'000 + 2'500'000);
}

TEST(CapacityTraceTest, NoTimeCarriesNothing) {
  const CapacityTrace trace({kTimeZero, kSecond}, {1'000'000, 8'000'000}, 2 * kSecond);
  EXPECT_EQ(trace.BitsBetween(Ns(5), Ns(5)), 0);
  EXPECT_EQ(trace.BitsBetween(Ns(6), Ns(5)), 0);
}

TEST(CapacityTraceTest, TransmissionThatNeverEnds) {
  const CapacityTrace stops({kTimeZero, kSecond}, {1'000'000, 0});
  EXPECT_EQ(stops.TransmissionEnd(kTimeZero, 1'000'000), SimTime(kSecond));
  EXPECT_EQ(stops.TransmissionEnd(kTimeZero, 1'000'001), std::nullopt);
  EXPECT_EQ(stops.TransmissionEnd(2 * kSecond, 1), std::nullopt);
  EXPECT_EQ(CapacityTrace({kTimeZero, Ns(1)}, {0, 0}, Ns(5)).TransmissionEnd(kTimeZero, 1), std::nullopt);
  // One bit per second for 1 ns of every 10 s: a million bits would take longer than time is counted.
  EXPECT_EQ(CapacityTrace({kTimeZero, Ns(1)}, {1, 0}, 10 * kSecond).TransmissionEnd(kTimeZero, 1'000'000),
            std::nullopt);
}

TEST(CapacityTraceTest, TransmissionOverManyPeriods) {
  const CapacityTrace trace({kTimeZero, kSecond}, {1'000'000, 0}, 10 * kSecond);
  EXPECT_EQ(trace.TransmissionEnd(kTimeZero, 1'000'000), SimTime(kSecond));
  EXPECT_EQ(trace.TransmissionEnd(kTimeZero, 1'000'001), SimTime(10 * kSecond + 1'000));
  EXPECT_EQ(trace.TransmissionEnd(500 * kMs, 1'000'000'000'000), SimTime(10'000'000 * kSecond + 500 * kMs));
}

TEST(CapacityTraceTest, TransmissionEndIsTheFirstInstantAtWhichTheIntegralSuffices) {
  RandomStream random(7, 0);
  for (int round = 0; round < 200; ++round) {
    std::vector<SimTime> times{kTimeZero};
    std::vector<int64_t> rates;
    const int64_t segments = random.UniformInteger(1, 12);
    for (int64_t i = 0; i < segments; ++i) {
      rates.push_back(random.Bernoulli(0.2) ? 0 : random.UniformInteger(1, 20'000'000));
      if (i > 0) times.push_back(times.back() + Ns(random.UniformInteger(1, (200 * kMs).ns())));
    }
    std::optional<SimDuration> period;
    if (random.Bernoulli(0.5)) period = times.back() + Ns(random.UniformInteger(1, (200 * kMs).ns()));
    const CapacityTrace trace(times, rates, period);
    SimTime previous_end = kTimeZero;
    for (int i = 0; i < 50; ++i) {
      const bool back_to_back = random.Bernoulli(0.5);
      const SimTime start = back_to_back ? previous_end : SimTime(Ns(random.UniformInteger(0, (5 * kSecond).ns())));
      const int64_t bits = random.UniformInteger(1, 1'000'000);
      const auto end = trace.TransmissionEnd(start, bits);
      if (!end) {
        EXPECT_LT(trace.BitsBetween(start, start + 1'000'000 * kSecond), bits);
        continue;
      }
      EXPECT_GE(trace.BitsBetween(start, *end), bits);
      EXPECT_LT(trace.BitsBetween(start, *end - Ns(1)), bits);
      previous_end = *end;
    }
  }
}

TEST(CapacityTraceTest, MeanIsOfOnePeriodOrOfTheDuration) {
  EXPECT_DOUBLE_EQ(CapacityTrace({kTimeZero, kSecond}, {1'000'000, 4'000'000}, 4 * kSecond).MeanRateBps(kSecond),
                   3'250'000);
  EXPECT_DOUBLE_EQ(CapacityTrace({kTimeZero, kSecond}, {1'000'000, 4'000'000}).MeanRateBps(4 * kSecond), 3'250'000);
  EXPECT_DOUBLE_EQ(CapacityTrace({kTimeZero, kSecond}, {1'000'000, 4'000'000}).MeanRateBps(500 * kMs), 1'000'000);
}

TEST(CapacityTraceTest, DelayedIsTheSameTraceLater) {
  const CapacityTrace endless({kTimeZero, Ns(30), Ns(70)}, {5, 0, 9});
  const CapacityTrace periodic({kTimeZero, Ns(30), Ns(70)}, {5, 0, 9}, Ns(100));
  for (const Ns delay : {0, 1, 29, 30, 31, 70, 99, 100, 101, 12'345}) {
    const CapacityTrace later = endless.Delayed(delay);
    const CapacityTrace later_periodic = periodic.Delayed(delay);
    for (Ns t = 0; t < 350; t += 1) {
      ASSERT_EQ(later.RateAt(t + delay), endless.RateAt(t)) << delay << " " << t;
      ASSERT_EQ(later_periodic.RateAt(t + delay), periodic.RateAt(t)) << delay << " " << t;
    }
    EXPECT_EQ(later.RateAt(kTimeZero), 5);
    EXPECT_EQ(later_periodic.period(), periodic.period());
  }
  const CapacityTrace slow({kTimeZero, 300 * kMs}, {8'000, 1'000}, kSecond);
  EXPECT_EQ(slow.Delayed(700 * kMs).MeanRateBps(Ns(1)), slow.MeanRateBps(Ns(1)));
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
