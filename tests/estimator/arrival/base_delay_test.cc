#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>

#include "arrival/queueing_delay.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(5);
constexpr DataSize kPacket = DataSize::Bytes(1200);

// A packet each 10 ms: 960 kbps.
class Path {
 public:
  Path() { base_.Restart(now_, TimeDelta::Zero()); }

  // Packets of this delay for so long, `interval` apart; returns the base after the last.
  TimeDelta Run(TimeDelta duration, TimeDelta delay, TimeDelta interval = TimeDelta::Millis(10)) {
    TimeDelta base = TimeDelta::Zero();
    for (const Timestamp end = now_ + duration; now_ < end;) base = One(delay, interval);
    return base;
  }
  void Tilt(double skew) { base_.Tilt(now_, skew); }
  TimeDelta One(TimeDelta delay, TimeDelta interval = TimeDelta::Millis(10)) {
    now_ = now_ + interval;
    return base_.Update(now_, delay, kPacket, kPacket, lowest_rate_);
  }
  // See BaseDelay::Update().
  void SetLowestRate(DataRate rate) { lowest_rate_ = rate; }

 private:
  Timestamp now_ = kStart;
  DataRate lowest_rate_ = DataRate::Zero();
  BaseDelay base_;
};

TEST(BaseDelayTest, FallsWithThePathWithinHalfASecondAndNotWithOnePacket) {
  Path path;
  EXPECT_EQ(path.Run(TimeDelta::Seconds(2), TimeDelta::Millis(40)), TimeDelta::Zero());
  EXPECT_EQ(path.One(TimeDelta::Millis(-3000)), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Millis(500), TimeDelta::Millis(40)), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Millis(500), TimeDelta::Millis(-15)), TimeDelta::Millis(-15));
}

TEST(BaseDelayTest, IsTheSmallestDelayBeforeThreeSlots) {
  Path path;
  EXPECT_EQ(path.One(TimeDelta::Millis(20)), TimeDelta::Zero());
  EXPECT_EQ(path.One(TimeDelta::Millis(-10)), TimeDelta::Millis(-10));
  // The minimum counts for 30 s, also under a standing queue.
  EXPECT_EQ(path.Run(TimeDelta::Seconds(25), TimeDelta::Millis(200)), TimeDelta::Millis(-10));
}

TEST(BaseDelayTest, RisesToTheSmallestOfHalfAMinuteThoughTheRateStays) {
  Path path;
  path.Run(TimeDelta::Seconds(1), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Seconds(26), TimeDelta::Millis(20)), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Seconds(8), TimeDelta::Millis(20)), TimeDelta::Millis(20));
}

TEST(BaseDelayTest, IsMeasuredAgainAfterARiseWithTimeAlone) {
  constexpr TimeDelta kRisen = TimeDelta::Millis(60);
  for (const bool is_queue : {false, true}) {
    Path path;
    path.Run(TimeDelta::Seconds(1), TimeDelta::Zero());
    // For 5 s it counts as a queue again, then for 15 s as the path's.
    EXPECT_EQ(path.Run(TimeDelta::Seconds(31), kRisen), TimeDelta::Zero());
    EXPECT_EQ(path.Run(TimeDelta::Seconds(6), kRisen), kRisen);
    EXPECT_EQ(path.Run(TimeDelta::Seconds(14), kRisen), TimeDelta::Zero());
    // The sender backs off.
    const TimeDelta delay = is_queue ? TimeDelta::Zero() : kRisen;
    EXPECT_EQ(path.Run(TimeDelta::Seconds(2), delay, TimeDelta::Millis(20)), delay);
    EXPECT_EQ(path.Run(TimeDelta::Seconds(60), delay), delay);
  }
}

TEST(BaseDelayTest, DoesNotFallFarWithAFewPackets) {
  Path path;
  constexpr TimeDelta kFast = TimeDelta::Millis(-130);
  path.Run(TimeDelta::Seconds(2), TimeDelta::Zero());
  for (int i = 0; i < 15; ++i) {
    path.One(kFast);
    EXPECT_EQ(path.Run(TimeDelta::Millis(20), TimeDelta::Zero()), TimeDelta::Zero()) << i;
  }
  EXPECT_EQ(path.Run(TimeDelta::Millis(500), kFast), kFast);
}

TEST(BaseDelayTest, RisesToALevelThatStaysThoughTheRateFell) {
  Path path;
  path.Run(TimeDelta::Seconds(3), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Millis(400), TimeDelta::Millis(60)), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Millis(1200), TimeDelta::Millis(60), TimeDelta::Millis(20)), TimeDelta::Millis(60));
  // And back.
  EXPECT_EQ(path.Run(TimeDelta::Millis(500), TimeDelta::Zero()), TimeDelta::Zero());
}

// At 96 kbps, before the delay rises and after.
TEST(BaseDelayTest, RisesToALevelWhereTheSenderCanYieldNoMore) {
  constexpr TimeDelta kInterval = TimeDelta::Millis(100), kRisen = TimeDelta::Millis(60);
  for (const int lowest_kbps : {0, 90, 120}) {
    SCOPED_TRACE(lowest_kbps);
    Path path;
    path.SetLowestRate(DataRate::KilobitsPerSecond(lowest_kbps));
    path.Run(TimeDelta::Seconds(3), TimeDelta::Zero(), kInterval);
    EXPECT_EQ(path.Run(TimeDelta::Millis(2900), kRisen, kInterval), TimeDelta::Zero());
    const TimeDelta base = path.Run(TimeDelta::Seconds(2), kRisen, kInterval);
    EXPECT_EQ(base, lowest_kbps > 96 ? kRisen : TimeDelta::Zero());
  }
}

// A queue that drains by 1 % of the time, or that competing flows move.
TEST(BaseDelayTest, DoesNotRiseWithAQueueThatMoves) {
  constexpr TimeDelta kInterval = TimeDelta::Millis(100);
  Path draining, moving;
  for (Path* const path : {&draining, &moving}) {
    path->SetLowestRate(DataRate::KilobitsPerSecond(120));
    path->Run(TimeDelta::Seconds(3), TimeDelta::Zero(), kInterval);
  }
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(draining.One(TimeDelta::Millis(300 - i), kInterval), TimeDelta::Zero()) << i;
    EXPECT_EQ(moving.One(TimeDelta::Millis(60 + i % 20), kInterval), TimeDelta::Zero()) << i;
  }
}

TEST(BaseDelayTest, DoesNotRiseWhileAQueueDrains) {
  Path path;
  path.Run(TimeDelta::Seconds(3), TimeDelta::Zero());
  // A queue of 400 ms at a link of 960 kbps, drained by a sender at half of it: packets arrive at the link's rate.
  for (int ms = 400; ms > 4; ms -= 5) EXPECT_EQ(path.One(TimeDelta::Millis(ms)), TimeDelta::Zero()) << ms;
}

TEST(BaseDelayTest, DoesNotRiseWithAQueueThatStaysAtTheLinksRate) {
  Path path;
  path.Run(TimeDelta::Seconds(3), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Seconds(20), TimeDelta::Millis(100)), TimeDelta::Zero());
}

TEST(BaseDelayTest, DoesNotRiseWhenTheLinkIsHalvedAndItsQueueGrows) {
  Path path;
  path.Run(TimeDelta::Seconds(3), TimeDelta::Zero());
  int ms = 0;
  for (; ms < 1000; ms += 10) EXPECT_EQ(path.One(TimeDelta::Millis(ms), TimeDelta::Millis(20)), TimeDelta::Zero());
}

TEST(BaseDelayTest, AStallIsNotALowRate) {
  Path path;
  path.Run(TimeDelta::Seconds(3), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Seconds(2), TimeDelta::Millis(60)), TimeDelta::Zero());
  EXPECT_EQ(path.One(TimeDelta::Millis(60), TimeDelta::Seconds(5)), TimeDelta::Zero());
  EXPECT_EQ(path.Run(TimeDelta::Seconds(2), TimeDelta::Millis(60)), TimeDelta::Zero());
}

TEST(BaseDelayTest, ASilenceLongerThanTheWindowForgetsAll) {
  Path path;
  path.Run(TimeDelta::Seconds(3), TimeDelta::Millis(10));
  path.One(TimeDelta::Millis(80), TimeDelta::Seconds(1'000'000));
  EXPECT_EQ(path.Run(TimeDelta::Seconds(1), TimeDelta::Millis(80)), TimeDelta::Millis(80));
}

TEST(BaseDelayTest, WhatCameBeforeIsMovedToAQuickerClock) {
  Path path;
  TimeDelta base = TimeDelta::Zero();
  // 1 ms a second.
  for (int ms = 0; ms < 20; ++ms) base = path.Run(TimeDelta::Seconds(1), TimeDelta::Millis(ms));
  EXPECT_EQ(base, TimeDelta::Zero());
  path.Tilt(1e-3);
  base = path.Run(TimeDelta::Millis(500), TimeDelta::Millis(20));
  EXPECT_GT(base, TimeDelta::Millis(15));
  EXPECT_LE(base, TimeDelta::Millis(20));
}

TEST(BaseDelayTest, ASlowerClockDoesNotLowerIt) {
  Path path;
  for (int ms = 0; ms < 20; ++ms) path.Run(TimeDelta::Seconds(1), TimeDelta::Millis(-ms));
  path.Tilt(-1e-3);
  EXPECT_EQ(path.Run(TimeDelta::Millis(500), TimeDelta::Millis(-19)), TimeDelta::Millis(-19));
  // And what came before does not hold it down.
  EXPECT_GT(path.Run(TimeDelta::Seconds(40), TimeDelta::Millis(-10)), TimeDelta::Millis(-15));
}

TEST(BaseDelayTest, HostileDelaysAreForgottenLikeOthers) {
  Path path;
  for (const TimeDelta delay : {TimeDelta::PlusInfinity(), TimeDelta::MinusInfinity(), TimeDelta::Seconds(1LL << 40)}) {
    path.Run(TimeDelta::Seconds(2), delay);
    path.Run(TimeDelta::Seconds(2), delay, TimeDelta::Millis(40));
    EXPECT_EQ(path.Run(TimeDelta::Seconds(40), TimeDelta::Millis(20)), TimeDelta::Millis(20));
  }
}

// Every 100 ms another delay, as of packets that wait for a late one; the sender backs off by a third each second.
TEST(BaseDelayTest, JitterThatStaysWhileTheRateFallsIsNoQueue) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int64_t> level_ms(0, 100);
    Path path;
    TimeDelta highest = TimeDelta::Zero();
    TimeDelta interval = TimeDelta::Millis(2);
    for (int i = 0; i < 80; ++i) {
      highest = std::max(highest, path.Run(TimeDelta::Millis(100), TimeDelta::Millis(level_ms(random)), interval));
      if (i % 10 == 9) interval = interval * 1.5;
    }
    EXPECT_GE(highest.ms(), 30) << seed;
    EXPECT_LE(highest.ms(), 200) << seed;
    // Without jitter the noise is forgotten.
    EXPECT_LE(path.Run(TimeDelta::Seconds(8), TimeDelta::Zero()).ms(), 1) << seed;
  }
}

// In the first two seconds of a call its rate grows fourfold, and the delay does not grow with it. Three seconds of
// random delays show it in every second call.
TEST(BaseDelayTest, JitterThatStaysWhileACallStartsIsNoQueue) {
  int found = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int64_t> level_ms(0, 100);
    Path path;
    TimeDelta highest = TimeDelta::Zero();
    for (int i = 0; i < 30; ++i) {
      const TimeDelta interval = TimeDelta::Millis(12) * (1 / (1 + std::min(i, 20) * 0.15));
      highest = std::max(highest, path.Run(TimeDelta::Millis(100), TimeDelta::Millis(level_ms(random)), interval));
    }
    EXPECT_LE(highest.ms(), 100) << seed;
    found += highest.ms() >= 30 ? 1 : 0;
  }
  EXPECT_GE(found, 7);
}

// A sender that grows above a link of 1.2 Mbps fills its queue.
TEST(BaseDelayTest, AQueueThatACallFillsAtItsStartIsNoNoise) {
  constexpr double kCapacityMs = 8;
  for (const double longest_ms : {50.0, 300.0, 1000.0}) {
    Path path;
    double queue_ms = 0, time_ms = 0;
    while (time_ms < 5e3) {
      const double interval_ms = std::max(20 / (1 + time_ms / 300), 4.0);
      time_ms += interval_ms;
      queue_ms = std::clamp(queue_ms + kCapacityMs - interval_ms, 0.0, longest_ms);
      const TimeDelta base = path.One(TimeDelta::SecondsF(queue_ms / 1e3), TimeDelta::SecondsF(interval_ms / 1e3));
      ASSERT_LE(base.ms(), 5) << longest_ms << " ms, at " << time_ms;
    }
  }
}

TEST(BaseDelayTest, JitterWithoutAChangedRateMayBeAQueue) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int64_t> level_ms(0, 100);
  Path path;
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(path.Run(TimeDelta::Millis(100), TimeDelta::Millis(level_ms(random))), TimeDelta::Millis(30));
  }
}

// On a link of 1.2 Mbps, the rate is above it and below it in turn.
TEST(BaseDelayTest, AQueueThatDrainsWithTheRateIsNoNoise) {
  constexpr double kCapacityMs = 8;
  for (const double half_s : {0.4, 1.0, 3.0}) {
    for (const auto& [above_ms, below_ms] : {std::pair(7.5, 9.0), std::pair(7.0, 12.0), std::pair(6.0, 14.0)}) {
      Path path;
      double queue_ms = 0, time_ms = 0;
      while (time_ms < 60e3) {
        const bool above = std::fmod(time_ms / 1e3, 2 * half_s) < half_s;
        const double interval_ms = above ? above_ms : below_ms;
        time_ms += interval_ms;
        queue_ms = std::max(queue_ms + kCapacityMs - interval_ms, 0.0);
        const TimeDelta base = path.One(TimeDelta::SecondsF(queue_ms / 1e3), TimeDelta::SecondsF(interval_ms / 1e3));
        ASSERT_LE(base.ms(), 5) << half_s << " s, " << above_ms << " ms, at " << time_ms;
      }
    }
  }
}

}  // namespace
}  // namespace weir
