#include "arrival/send_clock.h"

#include <gtest/gtest.h>

#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(1000);
constexpr int64_t kRtpVideoClock = 90'000;

SendTime AbsSendTimeOf(Timestamp sent) { return {AbsSendTime(sent), 24, int64_t{1} << 18}; }

TEST(SendClockTest, DelaysCountFromTheFirstPacket) {
  SendClock clock;
  EXPECT_TRUE(clock.Update(kStart, AbsSendTimeOf(kStart)).restarted);
  const TimeDelta sent_after = TimeDelta::Millis(20);
  const SendClock::Result slower =
      clock.Update(kStart + sent_after + TimeDelta::Millis(7), AbsSendTimeOf(kStart + sent_after));
  EXPECT_FALSE(slower.restarted);
  EXPECT_NEAR(slower.one_way_delay.seconds(), 0.007, 5e-6);
  EXPECT_NEAR(slower.change.seconds(), 0.007, 5e-6);
  const SendClock::Result quicker =
      clock.Update(kStart + sent_after * 2 - TimeDelta::Millis(3), AbsSendTimeOf(kStart + sent_after * 2));
  EXPECT_NEAR(quicker.one_way_delay.seconds(), -0.003, 5e-6);
  EXPECT_NEAR(quicker.change.seconds(), -0.010, 1e-5);
}

TEST(SendClockTest, TellsWrapsFromPauses) {
  SendClock clock;
  clock.Update(kStart, AbsSendTimeOf(kStart));
  // Beyond one period of 64 s, and beyond several.
  Timestamp sent = kStart;
  for (const int64_t pause_s : {1, 40, 63, 65, 130, 3600}) {
    sent += TimeDelta::Seconds(pause_s);
    const SendClock::Result result = clock.Update(sent + TimeDelta::Millis(5), AbsSendTimeOf(sent));
    EXPECT_FALSE(result.restarted) << pause_s;
    EXPECT_NEAR(result.one_way_delay.seconds(), 0.005, 1e-5) << pause_s;
  }
}

TEST(SendClockTest, ALookTakesNothingIn) {
  SendClock clock;
  clock.Update(kStart, AbsSendTimeOf(kStart));
  for (const int64_t seconds : {5, 70, -20, 3}) {
    const Timestamp sent = kStart + TimeDelta::Seconds(seconds);
    EXPECT_NEAR(clock.Read(sent + TimeDelta::Millis(8), AbsSendTimeOf(sent)).one_way_delay.seconds(), 0.008, 1e-5)
        << seconds;
  }
  EXPECT_NEAR(clock.Update(kStart + TimeDelta::Seconds(40), AbsSendTimeOf(kStart + TimeDelta::Seconds(37)))
                  .one_way_delay.seconds(),
              3.0, 1e-5);
}

TEST(SendTimeTest, LaterAndEarlierWrap) {
  const SendTime abs_send_time{0xFFFFFF, 24, int64_t{1} << 18};
  EXPECT_EQ(abs_send_time.After(TimeDelta::Seconds(1)).ticks, 0x3FFFFu);
  EXPECT_EQ(abs_send_time.After(TimeDelta::Seconds(-64)).ticks, 0xFFFFFFu);
  const SendTime rtp{5, 32, kRtpVideoClock};
  EXPECT_EQ(rtp.After(TimeDelta::Millis(-1500)).ticks, uint32_t{5} - 135'000);
  EXPECT_EQ(rtp.After(TimeDelta::Seconds(86'400)).ticks, static_cast<uint32_t>(5 + int64_t{86'400} * kRtpVideoClock));
}

TEST(SendClockTest, AnotherClockRateRestarts) {
  SendClock clock;
  clock.Update(kStart, {0, 32, kRtpVideoClock});
  EXPECT_TRUE(clock.Update(kStart, {0, 32, 48'000}).restarted);
}

}  // namespace
}  // namespace weir
