#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "arrival/send_clock.h"
#include "random_cases.h"

namespace weir {
namespace {

using DelayMs = std::function<double(double time_s)>;

constexpr double kPpm = 1e-6;
// A clock that is off by this looks like a queue of 1 ms after half a minute.
constexpr double kHarmless = 30 * kPpm;

double None(double) { return 0; }

// One-way delay of packets 10 ms apart: of the clocks, of the path, and noise that is never negative.
class Path {
 public:
  explicit Path(double skew, double noise_ms = 0) : skew_(skew), noise_ms_(0, std::max(noise_ms, 1e-6)) {}

  // Until then. Returns the skew found that is furthest from 0.
  double Run(double until_s, const DelayMs& path_ms = None) {
    double furthest = 0;
    for (; packets_ * kIntervalS < until_s; ++packets_) {
      const double time_s = packets_ * kIntervalS;
      const double delay_ms = skew_ * time_s * 1e3 + path_ms(time_s) + std::abs(noise_ms_(random_));
      estimate_.Update(Timestamp::Seconds(7) + TimeDelta::SecondsF(time_s), TimeDelta::SecondsF(delay_ms * 1e-3),
                       DataSize::Bytes(time_s < rate_falls_at_s ? 1200 : 800));
      if (std::abs(found()) > std::abs(furthest)) furthest = found();
    }
    return furthest;
  }
  double found() const { return estimate_.skew(); }

  // From then on the packets are smaller.
  double rate_falls_at_s = std::numeric_limits<double>::infinity();

 private:
  static constexpr double kIntervalS = 0.01;

  double skew_;
  std::mt19937 random_{1};
  std::normal_distribution<double> noise_ms_;
  int packets_ = 0;
  ClockSkew estimate_;
};

// A queue that grows to `top_ms` in `period_s` and then drains at once; from `bottom_ms`: below 0 it is empty for a
// part of the time.
DelayMs Sawtooth(double top_ms, double period_s, double bottom_ms = 0) {
  return [=](double time_s) {
    return std::max(bottom_ms + (top_ms - bottom_ms) * std::fmod(time_s, period_s) / period_s, 0.0);
  };
}

DelayMs Step(double at_s, double ms) {
  return [=](double time_s) { return time_s < at_s ? 0 : ms; };
}

DelayMs Ramp(double from_s, double until_s, double ms) {
  return [=](double time_s) { return ms * std::clamp((time_s - from_s) / (until_s - from_s), 0.0, 1.0); };
}

struct Clock {
  double ppm;
  double noise_ms;
};

class FindsAClockTest : public testing::TestWithParam<Clock> {};

TEST_P(FindsAClockTest, ToATenthWithinHalfAMinute) {
  const double skew = GetParam().ppm * kPpm;
  Path path(skew, GetParam().noise_ms);
  path.Run(30);
  EXPECT_NEAR(path.found(), skew, std::abs(skew) / 10 + 1 * kPpm);
  path.Run(300);
  EXPECT_NEAR(path.found(), skew, std::abs(skew) / 10 + 5 * kPpm);
}

TEST_P(FindsAClockTest, UnderQueuesThatDrain) {
  const double skew = GetParam().ppm * kPpm;
  Path path(skew, GetParam().noise_ms);
  path.Run(30, Sawtooth(60, 1.7, -30));
  EXPECT_NEAR(path.found(), skew, std::max(std::abs(skew) / 10, kHarmless));
}

INSTANTIATE_TEST_SUITE_P(Clocks, FindsAClockTest,
                         testing::Values(Clock{20, 0}, Clock{-20, 0}, Clock{100, 0}, Clock{-100, 0}, Clock{300, 0},
                                         Clock{1000, 0}, Clock{-1000, 0}, Clock{20, 10}, Clock{-20, 10}, Clock{100, 10},
                                         Clock{-100, 10}, Clock{300, 10}, Clock{-300, 10}, Clock{1000, 10},
                                         Clock{-1000, 10}),
                         [](const testing::TestParamInfo<Clock>& info) {
                           return (info.param.ppm < 0 ? "Fast" : "Slow") +
                                  std::to_string(static_cast<int>(std::abs(info.param.ppm))) + "Noise" +
                                  std::to_string(static_cast<int>(info.param.noise_ms));
                         });

TEST(ClockSkewTest, AQueueThatComesAndGoesIsNoClock) {
  for (const double noise_ms : {0.0, 10.0}) {
    for (const double period_s : {0.7, 2.0, 5.0, 10.0, 20.0}) {
      for (const double top_ms : {15.0, 40.0}) {
        Path path(0, noise_ms);
        EXPECT_LT(std::abs(path.Run(120, Sawtooth(top_ms, period_s, 5))), kHarmless)
            << top_ms << " ms in " << period_s << " s, noise " << noise_ms << " ms";
      }
    }
  }
}

TEST(ClockSkewTest, ALongerOrShorterRouteIsNoClock) {
  for (const double noise_ms : {0.0, 10.0}) {
    for (const double ms : {1.0, 5.0, 20.0, 150.0, -5.0, -20.0, -150.0}) {
      for (const double at_s : {3.0, 10.0, 25.0, 40.0}) {
        Path path(0, noise_ms);
        EXPECT_LT(std::abs(path.Run(120, Step(at_s, ms))), kHarmless)
            << ms << " ms at " << at_s << " s, noise " << noise_ms << " ms";
      }
    }
  }
}

TEST(ClockSkewTest, ARouteThatGrowsForTenSecondsIsNoClock) {
  for (const double ms : {5.0, 20.0, 100.0, -5.0, -20.0, -100.0}) {
    for (const double from_s : {2.0, 15.0, 40.0}) {
      Path path(0);
      EXPECT_LT(std::abs(path.Run(120, Ramp(from_s, from_s + 10, ms))), kHarmless)
          << ms << " ms from " << from_s << " s";
    }
  }
}

TEST(ClockSkewTest, ARouteThatWandersIsNoClock) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::array<double, 9> levels_ms{};
    for (double& level_ms : levels_ms) level_ms = static_cast<double>(random() % 40);
    Path path(0);
    const DelayMs wander = [&](double time_s) { return levels_ms[static_cast<size_t>(time_s / 15)]; };
    EXPECT_LT(std::abs(path.Run(120, wander)), kHarmless) << "seed " << seed;
  }
}

TEST(ClockSkewTest, WhatWasNoClockIsTakenBack) {
  Path path(0);
  // Too long to be distinguished from clock skew.
  path.Run(75, Ramp(0, 40, 20));
  EXPECT_LT(std::abs(path.found()), kHarmless);
}

TEST(ClockSkewTest, AKnownClockStaysWhileQueuesStand) {
  Path path(300 * kPpm);
  path.Run(30);
  path.Run(90, Sawtooth(80, 25, 20));
  EXPECT_NEAR(path.found(), 300 * kPpm, 30 * kPpm);
}

// A queue would have drained.
TEST(ClockSkewTest, AFallenRateTellsAClockFromAQueueWithinSeconds) {
  for (const double ppm : {-3000.0, -1700.0, -700.0, 700.0, 1700.0, 3000.0}) {
    SCOPED_TRACE(ppm);
    Path path(ppm * kPpm);
    path.rate_falls_at_s = 3;
    EXPECT_NEAR(path.Run(8), ppm * kPpm, 30 * kPpm);
    Path even(ppm * kPpm);
    EXPECT_EQ(even.Run(15), 0);
    EXPECT_NEAR(even.Run(30), ppm * kPpm, 30 * kPpm);
  }
}

// A queue drains when the rate falls, a clock does not: whatever jitter, queues and routes are mixed, the skew found is
// between none and that of the clock.
TEST(ClockSkewTest, InAnyMixtureOnlyTheClockIsFound) {
  for (uint32_t seed = 0; seed < RandomCases(200); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto between = [&random](double low, double high) {
      return std::uniform_real_distribution(low, high)(random);
    };
    const double skew = seed % 3 == 0 ? 0 : between(-3000, 3000) * kPpm;
    Path path(skew, between(0, 10));
    path.rate_falls_at_s = between(3, 40);
    // Compilers evaluate arguments in different orders.
    const double top_ms = between(10, 80), period_s = between(0.5, 5), bottom_ms = between(-30, 10);
    const double step_at_s = between(5, 40), step_ms = between(-40, 40);
    const DelayMs queue = Sawtooth(top_ms, period_s, bottom_ms), route = Step(step_at_s, step_ms);
    const DelayMs mixed = [&](double time_s) { return queue(time_s) + route(time_s); };
    // For some seconds a queue may hide a part of the line.
    const double tolerance = std::max(std::abs(skew) / 2, kHarmless);
    for (int second = 1; second <= 90; ++second) {
      path.Run(second, mixed);
      ASSERT_GE(path.found(), std::min(skew, 0.0) - tolerance) << second << " s";
      ASSERT_LE(path.found(), std::max(skew, 0.0) + tolerance) << second << " s";
    }
    EXPECT_NEAR(path.found(), skew, std::max(std::abs(skew) / 10, 40 * kPpm));
  }
}

TEST(ClockSkewTest, AnOrdinaryOscillatorIsLeftAlone) {
  for (const double ppm : {-10.0, 0.0, 10.0}) {
    for (const double noise_ms : {0.0, 10.0}) {
      Path path(ppm * kPpm, noise_ms);
      EXPECT_EQ(path.Run(300), 0) << ppm << " ppm, noise " << noise_ms << " ms";
    }
  }
}

TEST(ClockSkewTest, SilenceSaysNothing) {
  ClockSkew estimate;
  for (int i = 0; i < 100; ++i) {
    estimate.Update(Timestamp::Seconds(100LL * i), TimeDelta::Millis(i), DataSize::Bytes(1200));
    EXPECT_EQ(estimate.skew(), 0);
  }
}

TEST(ClockSkewTest, HostileDelaysStayWithinBounds) {
  ClockSkew estimate;
  Timestamp now = Timestamp::Seconds(1);
  std::mt19937 random(1);
  const std::array delays = {TimeDelta::PlusInfinity(), TimeDelta::MinusInfinity(), TimeDelta::Seconds(1LL << 40),
                             TimeDelta::Zero()};
  for (int i = 0; i < 100'000; ++i) {
    now = now + TimeDelta::Millis(static_cast<int64_t>(random() % 400));
    estimate.Update(now, delays[random() % delays.size()] + TimeDelta::Millis(static_cast<int64_t>(random() % 99)),
                    DataSize::Bytes(1200));
    ASSERT_LE(std::abs(estimate.skew()), ClockSkew::kMax);
  }
  estimate.Update(Timestamp::PlusInfinity(), TimeDelta::Zero(), DataSize::PlusInfinity());
  EXPECT_LE(std::abs(estimate.skew()), ClockSkew::kMax);
}

}  // namespace
}  // namespace weir
