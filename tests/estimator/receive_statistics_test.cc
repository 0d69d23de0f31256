#include "weir/receive_statistics.h"

#include <gtest/gtest.h>

#include "test_stream.h"

namespace weir {
namespace {

Arrival At(int64_t ms, int32_t lost_change = 0, TimeDelta queueing_delay = TimeDelta::Zero()) {
  Arrival arrival;
  arrival.packet = TestStream().Next(Timestamp::Millis(ms), TimeDelta::Zero(), 980);
  arrival.lost_change = lost_change;
  arrival.has_delay = queueing_delay > TimeDelta::Zero();
  arrival.queueing_delay = queueing_delay;
  return arrival;
}

TEST(ReceiveStatisticsTest, TheLastSecondIsTheLast) {
  ReceiveStatistics statistics;
  EXPECT_TRUE(statistics.Look(Timestamp::Millis(0)).receive_rate.IsZero());
  // 1000 bytes every 10 ms are 800 kbps; across 0, where slots are counted below it.
  for (int64_t ms = -2000; ms < 2000; ms += 10) {
    statistics.OnArrival(At(ms));
    if (ms < -1000) continue;
    const double rate_bps = static_cast<double>(statistics.Look(Timestamp::Millis(ms + 10)).receive_rate.bps());
    EXPECT_NEAR(rate_bps, 800'000, 10'000) << ms;
  }
  EXPECT_EQ(statistics.total().packets, 400);
  EXPECT_NEAR(static_cast<double>(statistics.Look(Timestamp::Millis(2500)).receive_rate.bps()), 400'000, 45'000);
  EXPECT_TRUE(statistics.Look(Timestamp::Millis(3000)).receive_rate.IsZero());
}

TEST(ReceiveStatisticsTest, AClockThatIsSetBackBeginsAnew) {
  ReceiveStatistics statistics;
  for (int64_t ms = 100'000; ms < 101'000; ms += 10) statistics.OnArrival(At(ms));
  for (int64_t ms = 0; ms < 500; ms += 10) statistics.OnArrival(At(ms));
  EXPECT_NEAR(static_cast<double>(statistics.Look(Timestamp::Millis(500)).receive_rate.bps()), 400'000, 45'000);
}

TEST(ReceiveStatisticsTest, LossAndDelay) {
  ReceiveStatistics statistics;
  statistics.OnArrival(At(0, 3, TimeDelta::Millis(10)));
  statistics.OnArrival(At(1, 0, TimeDelta::Millis(20)));
  statistics.OnArrival(At(2));
  ReceiveStatistics::LastSecond last = statistics.Look(Timestamp::Millis(2));
  EXPECT_DOUBLE_EQ(last.loss_ratio, 0.5);
  EXPECT_EQ(last.queueing_delay, TimeDelta::Millis(15));
  EXPECT_EQ(statistics.total().packets_with_delay, 2);
  EXPECT_EQ(statistics.total().queueing_delay, TimeDelta::Millis(30));
  // Those that were believed lost come late, a second after.
  for (int i = 0; i < 3; ++i) statistics.OnArrival(At(1500, -1));
  last = statistics.Look(Timestamp::Millis(1500));
  EXPECT_EQ(last.loss_ratio, 0);
  EXPECT_EQ(statistics.total().packets_lost, 0);
}

}  // namespace
}  // namespace weir
