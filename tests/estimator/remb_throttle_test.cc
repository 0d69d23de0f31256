#include "weir/remb_throttle.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(1000);
constexpr Timestamp kNow = Timestamp::Seconds(10);

TEST(RembThrottleTest, FirstTargetIsDueAtOnce) { EXPECT_TRUE(RembThrottle().DueTime(kRate).IsMinusInfinity()); }

TEST(RembThrottleTest, DecreaseOfThreePercentIsDueAtOnce) {
  RembThrottle throttle;
  throttle.OnSent(kRate, kNow);
  EXPECT_TRUE(throttle.DueTime(kRate * 0.97).IsMinusInfinity());
  EXPECT_EQ(throttle.DueTime(kRate * 0.98), kNow + TimeDelta::Millis(200));
}

TEST(RembThrottleTest, IncreaseWaits) {
  RembThrottle throttle;
  throttle.OnSent(kRate, kNow);
  EXPECT_EQ(throttle.DueTime(kRate * 5.0), kNow + TimeDelta::Millis(200));
}

TEST(RembThrottleTest, RepeatsWhatDoesNotChange) {
  RembThrottle throttle;
  throttle.OnSent(kRate, kNow);
  EXPECT_EQ(throttle.DueTime(kRate), kNow + TimeDelta::Seconds(1));
}

}  // namespace
}  // namespace weir
