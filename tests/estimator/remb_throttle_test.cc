#include "weir/remb_throttle.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(1000);
constexpr Timestamp kNow = Timestamp::Seconds(10);

// Ten packets a second until then.
RembThrottle SentAt(Timestamp now, TimeDelta packet_spacing = TimeDelta::Millis(100)) {
  RembThrottle throttle;
  for (int i = 20; i >= 0; --i) throttle.OnPacket(now - packet_spacing * i, DataSize::Bytes(1200));
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

TEST(RembThrottleTest, RepeatsSoonUntilOneIsSentAfterTheFirstPacket) {
  RembThrottle throttle;
  throttle.OnSent(kRate, kNow);
  EXPECT_EQ(throttle.DueTime(kRate, kNow), kNow + TimeDelta::Millis(200));
  EXPECT_EQ(throttle.DueTime(kRate, kNow + TimeDelta::Seconds(10)), kNow + TimeDelta::Millis(200));
  EXPECT_TRUE(throttle.DueTime(kRate, kNow + TimeDelta::Seconds(11)).IsPlusInfinity());
  throttle.OnPacket(kNow + TimeDelta::Seconds(12), DataSize::Bytes(100));
  EXPECT_EQ(throttle.DueTime(kRate, kNow + TimeDelta::Seconds(12)), kNow + TimeDelta::Millis(200));
  throttle.OnSent(kRate, kNow + TimeDelta::Seconds(12));
  EXPECT_EQ(throttle.DueTime(kRate, kNow + TimeDelta::Seconds(12)), kNow + TimeDelta::Seconds(13));
}

TEST(RembThrottleTest, RepeatsSoonWhileItLooksUnheardWithinFivePercentOfWhatArrives) {
  const auto due_after = [](DataRate target, int64_t received_bytes) {
    RembThrottle throttle;
    throttle.OnPacket(kNow, DataSize::Bytes(1200));
    throttle.OnSent(target, kNow);
    const Timestamp later = kNow + TimeDelta::Millis(200);
    throttle.OnPacket(later, DataSize::Bytes(received_bytes));
    return throttle.DueTime(target, later) - kNow;
  };
  // 25,000 bytes in 200 ms are 1 Mbps.
  EXPECT_EQ(due_after(kRate, 31'000), TimeDelta::Seconds(1));
  EXPECT_EQ(due_after(kRate, 32'000), TimeDelta::Millis(200));
  // Of 1,600 bytes a REMB is 5 %.
  EXPECT_EQ(due_after(DataRate::KilobitsPerSecond(30), 1'599), TimeDelta::Seconds(1));
  EXPECT_EQ(due_after(DataRate::KilobitsPerSecond(30), 1'600), TimeDelta::Millis(200));
}

TEST(RembThrottleTest, LooksUnheardFiveTimesForEachTarget) {
  RembThrottle throttle = SentAt(kNow);
  Timestamp now = kNow;
  const auto next = [&](DataRate target) {
    throttle.OnPacket(now, DataSize::Bytes(1'000'000));
    const TimeDelta wait = throttle.DueTime(target, now) - now;
    now += wait;
    throttle.OnSent(target, now);
    return wait;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(next(kRate), TimeDelta::Millis(200)) << i;
  EXPECT_EQ(next(kRate), TimeDelta::Seconds(1));
  EXPECT_EQ(next(kRate * 1.5), TimeDelta::Millis(200));
  EXPECT_EQ(next(kRate * 1.5), TimeDelta::Millis(200));
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
