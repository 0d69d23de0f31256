#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "arrival/send_clock.h"
#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(1000);
constexpr TimeDelta kSpacing = TimeDelta::Millis(10);
constexpr TimeDelta kPath = TimeDelta::Millis(25);
constexpr int64_t kRtpVideoClock = 90'000;

// One clock of a sender, and the delays that a receiver measures by what the filter believes of it.
class Sender {
 public:
  enum class Kind { kAbsSendTime, kRtpTimestamp };
  explicit Sender(Kind kind) : kind_(kind) {}

  // The clock minus the time.
  TimeDelta clock_error = TimeDelta::Zero();
  SendTimeFilter filter;
  int believed = 0;
  int leaps = 0;
  // Against the first packet.
  TimeDelta delay = TimeDelta::Zero();

  bool Send(Timestamp sent, TimeDelta on_the_way = kPath) {
    const SendTimeFilter::Result result = filter.Update(sent + on_the_way, Shown(sent + clock_error));
    if (!result.believed) return false;
    ++believed;
    leaps += result.leapt;
    delay = result.delay.one_way_delay;
    return true;
  }
  // A hundred packets on an empty path.
  Timestamp Begin() {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(Send(kStart + kSpacing * i));
    EXPECT_NEAR(delay.seconds(), 0, 1e-4);
    return kStart + kSpacing * 100;
  }

 private:
  SendTime Shown(Timestamp time) const {
    if (kind_ == Kind::kAbsSendTime) return {AbsSendTime(time), 24, int64_t{1} << 18};
    return {static_cast<uint32_t>(static_cast<__int128>(time.us()) * kRtpVideoClock / 1'000'000), 32, kRtpVideoClock};
  }

  const Kind kind_;
};

class SendTimeFilterTest : public testing::TestWithParam<Sender::Kind> {
 protected:
  Sender sender_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Clocks, SendTimeFilterTest,
                         testing::Values(Sender::Kind::kAbsSendTime, Sender::Kind::kRtpTimestamp),
                         [](const auto& test) {
                           return test.param == Sender::Kind::kAbsSendTime ? "AbsSendTime" : "RtpTimestamp";
                         });

TEST_P(SendTimeFilterTest, AStrayPacketIsNotBelievedAndChangesNothing) {
  Timestamp time = sender_.Begin();
  // 2^30 ticks of 90 kHz are 11,930 s.
  for (const double stray_s : {11'930.0, -11'930.0, 300.0, -300.0, 20.0, -20.0, 3.1, 2.0, 0.6, -0.6}) {
    sender_.clock_error = TimeDelta::Micros(static_cast<int64_t>(stray_s * 1e6));
    EXPECT_FALSE(sender_.Send(time)) << stray_s;
    sender_.clock_error = TimeDelta::Zero();
    time += kSpacing;
    EXPECT_TRUE(sender_.Send(time, kPath + TimeDelta::Millis(7))) << stray_s;
    EXPECT_NEAR(sender_.delay.seconds(), 0.007, 1e-4) << stray_s;
    time += kSpacing;
  }
  EXPECT_EQ(sender_.leaps, 0);
}

TEST_P(SendTimeFilterTest, NorAreStrayPacketsThatDoNotAgree) {
  const Timestamp time = sender_.Begin();
  for (int i = 0; i < 200; ++i) {
    // By turns 20 s ahead and 25 s ahead.
    sender_.clock_error = TimeDelta::Seconds(20 + 5 * (i % 2));
    EXPECT_FALSE(sender_.Send(time + kSpacing * i)) << i;
  }
  sender_.clock_error = TimeDelta::Zero();
  EXPECT_TRUE(sender_.Send(time + kSpacing * 200));
  EXPECT_NEAR(sender_.delay.seconds(), 0, 1e-4);
}

TEST_P(SendTimeFilterTest, AfterALeapTheDelayGoesOn) {
  for (const double step_s : {11'930.0, 300.0, 20.0, 5.0, -1.0, -5.0, -20.0, -300.0, -11'930.0}) {
    Sender sender(GetParam());
    Timestamp time = sender.Begin();
    TimeDelta queue = TimeDelta::Zero();
    for (; queue < TimeDelta::Millis(80); queue += TimeDelta::Millis(1), time += kSpacing) {
      sender.Send(time, kPath + queue);
    }
    sender.clock_error = TimeDelta::Micros(static_cast<int64_t>(step_s * 1e6));
    for (int i = 1; i < SendTimeFilter::kConfirmations; ++i, time += kSpacing) {
      EXPECT_FALSE(sender.Send(time, kPath + queue)) << step_s;
    }
    EXPECT_TRUE(sender.Send(time, kPath + queue)) << step_s;
    EXPECT_EQ(sender.leaps, 1);
    // The lowest of the last five, which rose by 1 ms each.
    EXPECT_NEAR(sender.delay.seconds(), queue.seconds() - 0.005, 1e-4) << step_s;
    const TimeDelta error = sender.delay - queue;
    for (int i = 0; i < 100; ++i) {
      time += kSpacing;
      queue = std::max(queue - TimeDelta::Millis(1), TimeDelta::Zero());
      EXPECT_TRUE(sender.Send(time, kPath + queue));
      EXPECT_NEAR(sender.delay.seconds(), (queue + error).seconds(), 1e-4);
    }
    EXPECT_EQ(sender.leaps, 1);
  }
}

TEST_P(SendTimeFilterTest, ASilenceEmptiesTheQueue) {
  Timestamp time = sender_.Begin();
  for (int i = 0; i < 50; ++i, time += kSpacing) sender_.Send(time, kPath + TimeDelta::Millis(300));
  // 200 ms from the last arrival to the next.
  time += TimeDelta::Millis(400);
  sender_.clock_error = TimeDelta::Seconds(50);
  for (int i = 0; i < SendTimeFilter::kConfirmations; ++i, time += kSpacing) {
    sender_.Send(time, kPath + TimeDelta::Millis(90));
  }
  EXPECT_EQ(sender_.leaps, 1);
  EXPECT_NEAR(sender_.delay.seconds(), 0.1, 1e-4);
}

TEST_P(SendTimeFilterTest, JitterMovesNoLevel) {
  std::mt19937 random(1);
  Sender sender(GetParam());
  const auto jitter = [&] { return TimeDelta::Millis(static_cast<int64_t>(random() % 40)); };
  Timestamp time = kStart;
  for (int i = 0; i < 300; ++i, time += kSpacing) sender.Send(time, kPath + jitter());
  TimeDelta lowest = TimeDelta::PlusInfinity();
  for (int leap = 0; leap < 20; ++leap) {
    sender.clock_error += TimeDelta::Seconds(leap % 2 ? -7 : 7);
    for (int i = 0; i < 300; ++i, time += kSpacing) {
      sender.Send(time, kPath + jitter());
      if (leap == 19) lowest = std::min(lowest, sender.delay);
    }
  }
  EXPECT_EQ(sender.leaps, 20);
  // The lowest of five are some ms apart, either way, twenty times over; and the first packet's own jitter.
  EXPECT_NEAR(lowest.seconds(), 0, 0.07);
}

TEST_P(SendTimeFilterTest, AStalledPathIsADelay) {
  for (const bool drops : {false, true}) {
    Sender sender(GetParam());
    const Timestamp stall = sender.Begin();
    const Timestamp end = stall + TimeDelta::Seconds(5);
    // Everything at once, or only what a small queue held.
    for (Timestamp sent = stall; sent < end; sent += kSpacing) {
      if (drops && sent >= stall + TimeDelta::Millis(300)) break;
      ASSERT_TRUE(sender.Send(sent, end + kPath - sent));
      EXPECT_NEAR(sender.delay.seconds(), (end - sent).seconds(), 1e-4);
    }
    ASSERT_TRUE(sender.Send(end));
    EXPECT_NEAR(sender.delay.seconds(), 0, 1e-4);
    EXPECT_EQ(sender.leaps, 0);
  }
}

TEST_P(SendTimeFilterTest, OneLatePacketIsNoDelay) {
  const Timestamp time = sender_.Begin();
  EXPECT_TRUE(sender_.Send(time, kPath));
  EXPECT_TRUE(sender_.Send(time + TimeDelta::Seconds(3)));
  // Sent 3 s before the one that came last.
  EXPECT_FALSE(sender_.Send(time + kSpacing, kPath + TimeDelta::Seconds(3)));
  // Overtaken by a little.
  EXPECT_TRUE(sender_.Send(time + TimeDelta::Millis(2900), kPath + TimeDelta::Millis(200)));
  EXPECT_NEAR(sender_.delay.seconds(), 0.2, 1e-4);
  EXPECT_TRUE(sender_.Send(time + TimeDelta::Millis(3200)));
  EXPECT_NEAR(sender_.delay.seconds(), 0, 1e-4);
}

TEST_P(SendTimeFilterTest, AClockThatStoodStillInAPauseGoesOn) {
  Timestamp time = sender_.Begin();
  time += TimeDelta::Seconds(15);
  sender_.clock_error = TimeDelta::Seconds(-15);
  for (int i = 0; i < 10; ++i, time += kSpacing) sender_.Send(time);
  EXPECT_EQ(sender_.leaps, 1);
  EXPECT_NEAR(sender_.delay.seconds(), 0, 1e-4);
}

TEST_P(SendTimeFilterTest, LeapsAreFollowedOnSparseStreams) {
  Timestamp time = kStart;
  for (int i = 0; i < 20; ++i, time += TimeDelta::Seconds(1)) sender_.Send(time);
  sender_.clock_error = TimeDelta::Seconds(-300);
  for (int i = 0; i < SendTimeFilter::kConfirmations; ++i, time += TimeDelta::Seconds(1)) sender_.Send(time);
  EXPECT_EQ(sender_.leaps, 1);
  EXPECT_NEAR(sender_.delay.seconds(), 0, 1e-4);
}

TEST(SendTimeFilterOfFramesTest, OneFrameConfirmsNothing) {
  SendTimeFilter filter;
  Timestamp time = kStart;
  for (int i = 0; i < 100; ++i, time += kSpacing) {
    ASSERT_TRUE(filter.Update(time, {static_cast<uint32_t>(900 * i), 32, kRtpVideoClock}).believed);
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_FALSE(filter.Update(time + TimeDelta::Micros(i), {1u << 30, 32, kRtpVideoClock}).believed);
  }
  EXPECT_TRUE(filter.Update(time + kSpacing, {900 * 101, 32, kRtpVideoClock}).believed);
}

TEST(SendTimeFilterOfFramesTest, AnotherClockRateRestarts) {
  SendTimeFilter filter;
  filter.Update(kStart, {0, 32, kRtpVideoClock});
  const SendTimeFilter::Result other = filter.Update(kStart, {0, 32, 48'000});
  EXPECT_TRUE(other.believed && other.delay.restarted);
}

// Any clock, any path: whatever has happened, packets that go on evenly are soon believed, and measured rightly.
TEST_P(SendTimeFilterTest, RecoversFromAnything) {
  std::mt19937_64 random(7);
  const auto upto = [&](int64_t bound) { return static_cast<int64_t>(random() % static_cast<uint64_t>(bound)); };
  for (int run = 0; run < 300; ++run) {
    Sender sender(GetParam());
    Timestamp time = kStart;
    const auto operations = upto(200);
    for (int64_t i = 0; i < operations; ++i) {
      switch (upto(6)) {
        case 0:
          sender.clock_error = TimeDelta::Micros(upto(40'000'000'000) - 20'000'000'000);
          break;
        case 1:
          time += TimeDelta::Micros(upto(100'000'000));
          break;
        case 2:
          sender.Send(time - TimeDelta::Micros(upto(8'000'000)), TimeDelta::Micros(upto(20'000'000)));
          break;
        default:
          time += TimeDelta::Micros(upto(100'000));
          sender.Send(time, kPath + TimeDelta::Micros(upto(50'000)));
      }
    }
    // The late packets have arrived.
    time += TimeDelta::Seconds(20);
    // A leap of the clock among the first may still have to be confirmed, and one after what is left of a stray.
    for (int i = 0; i < 12; ++i, time += kSpacing) sender.Send(time);
    const TimeDelta before = sender.delay;
    for (int i = 0; i < 100; ++i, time += kSpacing) {
      ASSERT_TRUE(sender.Send(time, kPath + TimeDelta::Millis(i))) << run;
      ASSERT_NEAR((sender.delay - before).seconds(), i * 1e-3, 1e-4) << run;
    }
  }
}

}  // namespace
}  // namespace weir
