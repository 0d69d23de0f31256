#include "sender/clock_drift.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace weir {
namespace {

// With feedback each 50 ms.
struct Path {
  double drift = 0;
  std::function<TimeDelta(double)> there = [](double) { return TimeDelta::Millis(40); };
  std::function<TimeDelta(double)> back = [](double) { return TimeDelta::Millis(40); };
  // After eight seconds.
  double silence_s = 0;
};

// The part of the receiver's gain that is left at the end, in ms.
double LeftMs(const Path& path, int seconds) {
  ClockDrift drift;
  TimeDelta taken_out = TimeDelta::Zero();
  double left_ms = 0;
  for (int i = 0; i < seconds * 20; ++i) {
    const double at_s = i * 0.05 + (i < 160 ? 0 : path.silence_s);
    const TimeDelta gain = TimeDelta::SecondsF(path.drift * at_s), there = path.there(at_s);
    taken_out += drift.Update(Timestamp::Seconds(1000) + TimeDelta::SecondsF(at_s), there + path.back(at_s),
                              there + gain - taken_out);
    left_ms = (gain - taken_out).seconds() * 1e3;
  }
  return left_ms;
}

TEST(ClockDriftTest, AReceiverThatGainsShowsLittleDelayAfterEightSeconds) {
  for (const double drift : {1e-3, 1.7e-3, 3e-3}) {
    EXPECT_GT(LeftMs({.drift = drift}, 4), 3e3 * drift);
    EXPECT_NEAR(LeftMs({.drift = drift}, 8), 0, 5) << drift;
    EXPECT_NEAR(LeftMs({.drift = drift}, 60), 0, 5) << drift;
  }
}

TEST(ClockDriftTest, AReceiverThatLosesIsLeftAlone) { EXPECT_NEAR(LeftMs({.drift = -3e-3}, 60), -180, 1); }

TEST(ClockDriftTest, AQueueALongerRouteAndAClockSetAreNoDrift) {
  const auto grows = [](double at_s) { return TimeDelta::SecondsF(0.04 + 3e-3 * at_s); };
  const auto sets = [](double at_s) { return TimeDelta::Millis(at_s < 6 ? 40 : 60); };
  for (const Path& path : {Path{.there = grows}, Path{.back = grows}, Path{.there = sets}, Path{.back = sets}})
    EXPECT_EQ(LeftMs(path, 30), 0);
}

TEST(ClockDriftTest, JitterIsNoDriftAndHidesNoneForLong) {
  for (int seed = 0; seed < 100; ++seed) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    const auto jitter = [&](double) {
      return TimeDelta::Millis(40) + TimeDelta::SecondsF(std::exponential_distribution<double>(50)(random));
    };
    EXPECT_NEAR(LeftMs({.there = jitter, .back = jitter}, 60), 0, 8) << seed;
    EXPECT_NEAR(LeftMs({.drift = 3e-3, .there = jitter, .back = jitter}, 60), 0, 90) << seed;
  }
}

TEST(ClockDriftTest, ADriftThatIsKnownGoesOnInSilence) {
  EXPECT_NEAR(LeftMs({.drift = 3e-3, .silence_s = 20}, 10), 0, 4);
}

}  // namespace
}  // namespace weir
