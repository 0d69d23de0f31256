#include "arrival/path_memory.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>

namespace weir {
namespace {

constexpr double kIntervalS = 0.1;

// An interval of this rate in which the queueing delay stayed as it was.
IntervalStatistics Interval(double rate_bps, double delay_s, double lost = 0) {
  IntervalStatistics statistics;
  statistics.interval_s = kIntervalS;
  statistics.bytes_received = rate_bps * kIntervalS / 8;
  statistics.packets_received = rate_bps > 0 ? 10 : 0;
  statistics.packets_lost = lost;
  statistics.queueing_delay_min_s = statistics.queueing_delay_max_s = delay_s;
  return statistics;
}

IntervalStatistics Feed(PathMemory& memory, double duration_s, const IntervalStatistics& interval) {
  IntervalStatistics latest = interval;
  const auto intervals = std::lround(std::ceil(duration_s / kIntervalS - 1e-9));
  for (int64_t i = 0; i < intervals; ++i) {
    latest = interval;
    memory.Add(latest);
  }
  return latest;
}

TEST(PathMemoryTest, KnowsTheRatesAndQueuesOfTenSeconds) {
  PathMemory memory;
  Feed(memory, 3, Interval(3e6, 0.2));
  Feed(memory, 3, Interval(1e6, 0.05));
  const IntervalStatistics in_sight = Feed(memory, 2, Interval(2e6, 0.1));
  EXPECT_NEAR(in_sight.receive_rate_max_10s_bps, 3e6, 1);
  EXPECT_NEAR(in_sight.receive_rate_min_10s_bps, 1e6, 1);
  EXPECT_EQ(in_sight.queueing_delay_min_10s_s, 0.05);
  EXPECT_EQ(in_sight.queueing_delay_max_10s_s, 0.2);
  const IntervalStatistics forgotten = Feed(memory, 10, Interval(2e6, 0.1));
  EXPECT_NEAR(forgotten.receive_rate_max_10s_bps, 2e6, 1);
  EXPECT_NEAR(forgotten.receive_rate_min_10s_bps, 2e6, 1);
  EXPECT_EQ(forgotten.queueing_delay_min_10s_s, 0.1);
  EXPECT_EQ(forgotten.queueing_delay_max_10s_s, 0.1);
}

TEST(PathMemoryTest, AnOutageIsForgottenWithItsEndAndAPauseIsNot) {
  for (const double lost : {80.0, 0.0}) {
    PathMemory memory;
    Feed(memory, 3, Interval(1e6, 0.2));
    Feed(memory, 5, Interval(0, 0));
    // Packets that waited all the time, then the first of those sent after them.
    Feed(memory, 0.3, Interval(4e6, 5));
    Feed(memory, kIntervalS, Interval(1e5, 0.001, lost));
    const IntervalStatistics after = Feed(memory, 1, Interval(1e5, 0.001));
    EXPECT_EQ(after.queueing_delay_max_10s_s, lost > 0 ? 0.001 : 5);
    EXPECT_EQ(after.loss_at_short_queue_10s, 0);
    EXPECT_EQ(after.receive_rate_max_10s_bps > 0.99e6, lost == 0);
  }
}

TEST(PathMemoryTest, LossBehindAShortSilenceIsKept) {
  PathMemory memory;
  Feed(memory, 1.5, Interval(0, 0));
  Feed(memory, kIntervalS, Interval(1e6, 0.001, 10));
  EXPECT_GT(Feed(memory, 1, Interval(1e6, 0.001)).loss_at_short_queue_10s, 0.05);
}

TEST(PathMemoryTest, CountsLossOfShortQueuesOnly) {
  PathMemory memory;
  Feed(memory, 2, Interval(1e6, 0.2, 10));
  EXPECT_EQ(Feed(memory, 2, Interval(1e6, 0.2, 10)).loss_at_short_queue_10s, 0);
  EXPECT_NEAR(Feed(memory, 2, Interval(1e6, 0.001, 1)).loss_at_short_queue_10s, 1.0 / 11, 1e-9);
}

TEST(PathMemoryTest, TellsLossThatFollowsTheRateFromLossByChance) {
  PathMemory chance, policed;
  IntervalStatistics latest;
  for (int second = 0; second < 10; ++second) {
    const bool fast = second % 2 == 0;
    IntervalStatistics interval = Interval(fast ? 4e6 : 2e6, 0.001);
    interval.packets_received = fast ? 40 : 20;
    interval.packets_lost = fast ? 4 : 2;
    latest = Feed(chance, 1, interval);
    EXPECT_NEAR(latest.loss_ratio_fast_10s, 1.0 / 11, 1e-9);
    if (second > 0) {
      EXPECT_NEAR(latest.loss_ratio_slow_10s, 1.0 / 11, 1e-9);
    }
    interval.packets_lost = fast ? 4 : 0;
    latest = Feed(policed, 1, interval);
  }
  EXPECT_NEAR(latest.loss_ratio_fast_10s, 1.0 / 11, 1e-9);
  EXPECT_EQ(latest.loss_ratio_slow_10s, 0);
}

TEST(PathMemoryTest, TellsNoiseFromAQueueThatGrows) {
  PathMemory queue;
  IntervalStatistics statistics;
  for (int i = 0; i < 50; ++i) queue.Add(statistics = Interval(1e6, 0.01 * i));
  EXPECT_NEAR(statistics.delay_noise_s, 0, 1e-9);

  std::mt19937 random(1);
  std::uniform_real_distribution<double> delay_s(0, 0.03);
  PathMemory noise;
  for (int i = 0; i < 50; ++i) noise.Add(statistics = Interval(1e6, delay_s(random)));
  EXPECT_GT(statistics.delay_noise_s, 0.01);
  EXPECT_LT(statistics.delay_noise_s, 0.04);
}

TEST(PathMemoryTest, SilenceIsARateOfZeroAndNoDelay) {
  PathMemory memory;
  Feed(memory, 5, Interval(1e6, 0.02));
  const IntervalStatistics silent = Feed(memory, 5, Interval(0, 0.02));
  EXPECT_NEAR(silent.receive_rate_max_10s_bps, 1e6, 1);
  EXPECT_EQ(silent.receive_rate_min_10s_bps, 0);
  EXPECT_EQ(silent.queueing_delay_min_10s_s, 0.02);
  EXPECT_EQ(silent.delay_noise_s, 0);
}

}  // namespace
}  // namespace weir
