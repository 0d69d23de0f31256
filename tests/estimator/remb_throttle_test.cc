#include "weir/remb_throttle.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(1000);
constexpr Timestamp kNow = Timestamp::Seconds(10);

// Ten packets a second until then.
RembThrottle SentAt(Timestamp now, TimeDelta packet_spacing = TimeDelta::Millis(100)) {
  RembThrottle throttle;
  for (int i = 20; i >= 0; --i) throttle.OnPacket(now - packet_spacing * i);
  throttle.OnSent(kRate, now);
  return throttle;
}

TEST(RembThrottleTest, FirstTargetIsDueAtOnce) { EXPECT_TRUE(RembThrottle().DueTime(kRate, kNow).IsMinusInfinity()); }

TEST(RembThrottleTest, DecreaseOfThreePercentIsDueAtOnce) {
  const RembThrottle throttle = SentAt(kNow);
  EXPECT_TRUE(throttle.DueTime(kRate * 0.97, kNow).IsMinusInfinity());
  EXPECT_EQ(throttle.DueTime(kRate * 0.98, kNow), kNow + TimeDelta::Millis(200));
}

TEST(RembThrottleTest, IncreaseWaits) {
  const RembThrottle throttle = SentAt(kNow);
  EXPECT_EQ(throttle.DueTime(kRate * 1.01, kNow), kNow + TimeDelta::Millis(200));
  EXPECT_EQ(throttle.DueTime(kRate * 5.0, kNow), kNow + TimeDelta::Millis(200));
}

TEST(RembThrottleTest, RepeatsWhatDoesNotChange) {
  EXPECT_EQ(SentAt(kNow).DueTime(kRate, kNow), kNow + TimeDelta::Seconds(1));
  EXPECT_EQ(SentAt(kNow, TimeDelta::Seconds(1)).DueTime(kRate, kNow), kNow + TimeDelta::Seconds(1));
}

TEST(RembThrottleTest, WhilePacketsAreSparseSmallChangesWait) {
  // Three and a half a second.
  const RembThrottle throttle = SentAt(kNow, TimeDelta::Millis(350));
  for (const double change : {0.86, 0.97, 0.99, 1.01, 1.14}) {
    EXPECT_EQ(throttle.DueTime(kRate * change, kNow), kNow + TimeDelta::Millis(500)) << change;
  }
  EXPECT_TRUE(throttle.DueTime(kRate * 0.85, kNow).IsMinusInfinity());
  EXPECT_EQ(throttle.DueTime(kRate * 1.15, kNow), kNow + TimeDelta::Millis(200));
}

TEST(RembThrottleTest, ASilenceIsSparse) {
  const RembThrottle throttle = SentAt(kNow);
  const auto due = [&](int64_t silence_ms) {
    return throttle.DueTime(kRate * 0.9, kNow + TimeDelta::Millis(silence_ms));
  };
  EXPECT_TRUE(due(700).IsMinusInfinity());
  EXPECT_EQ(due(701), kNow + TimeDelta::Millis(500));
}

}  // namespace
}  // namespace weir
