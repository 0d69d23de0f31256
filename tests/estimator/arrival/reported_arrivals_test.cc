#include "arrival/reported_arrivals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "arrival/arrival_statistics.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(1000);
constexpr DataSize kSize = DataSize::Bytes(1200);

ReportedArrival Reported(uint32_t number, TimeDelta sent, TimeDelta delay) {
  return {.arrival_time = kStart + sent + delay, .send_time = kStart + sent, .number = number, .size = kSize};
}

TEST(ReportedArrivalsTest, AMissingNumberIsLostUntilItComes) {
  ReportedArrivals arrivals;
  const auto change = [&](uint32_t number) {
    return arrivals.OnArrival(Reported(number, TimeDelta::Millis(number), TimeDelta::Millis(20))).lost_change;
  };
  EXPECT_EQ(change(10), 0);
  EXPECT_EQ(change(11), 0);
  EXPECT_EQ(change(14), 2);
  EXPECT_EQ(change(13), -1);
  // It left before the first that arrived.
  EXPECT_EQ(change(9), 0);
  EXPECT_EQ(change(15), 0);
  EXPECT_EQ(arrivals.reordered(), 2u);
}

TEST(ReportedArrivalsTest, NumbersWrap) {
  ReportedArrivals arrivals;
  const auto change = [&](uint32_t number, int ms) {
    return arrivals.OnArrival(Reported(number, TimeDelta::Millis(ms), TimeDelta::Millis(20))).lost_change;
  };
  EXPECT_EQ(change(UINT32_MAX - 1, 0), 0);
  EXPECT_EQ(change(1, 1), 2);
  EXPECT_EQ(change(UINT32_MAX, 2), -1);
}

TEST(ReportedArrivalsTest, DelaysAreExactToAMicrosecond) {
  ReportedArrivals arrivals;
  for (uint32_t i = 0; i < 100; ++i) {
    const TimeDelta queue = TimeDelta::Micros(i < 50 ? 0 : 7 * (i - 49));
    const Arrival arrival =
        arrivals.OnArrival(Reported(i, TimeDelta::Micros(10'001 * i), TimeDelta::Millis(20) + queue));
    ASSERT_TRUE(arrival.has_delay);
    EXPECT_EQ(arrival.queueing_delay, queue) << i;
    EXPECT_EQ(arrival.delay_change, TimeDelta::Micros(i < 50 ? 0 : 7)) << i;
  }
}

TEST(ReportedArrivalsTest, AGuessedArrivalHasTheDelayOfTheOneBefore) {
  ReportedArrivals arrivals;
  arrivals.OnArrival(Reported(0, TimeDelta::Zero(), TimeDelta::Millis(20)));
  arrivals.OnArrival(Reported(1, TimeDelta::Millis(10), TimeDelta::Millis(25)));
  ReportedArrival guess = Reported(2, TimeDelta::Millis(20), TimeDelta::Seconds(3));
  guess.has_delay = false;
  const Arrival arrival = arrivals.OnArrival(guess);
  EXPECT_FALSE(arrival.has_delay);
  EXPECT_EQ(arrival.queueing_delay, TimeDelta::Millis(5));
}

// RTP has the same where its 24-bit send times and 16-bit numbers can: departures at multiples of 1/64 s.
TEST(ReportedArrivalsTest, MeasuresWhatRtpShows) {
  std::mt19937 random(1);
  ReportedArrivals reported;
  ArrivalStatistics statistics;
  uint32_t number = 0;
  TimeDelta queue = TimeDelta::Zero();
  Timestamp latest = kStart;
  for (int64_t tick = 0; tick < 20'000; ++tick) {
    const Timestamp sent = kStart + TimeDelta::Micros(15'625 * tick);
    queue = std::clamp(queue + TimeDelta::Micros(static_cast<int64_t>(random() % 4001) - 2000), TimeDelta::Zero(),
                       TimeDelta::Millis(300));
    for (uint32_t packet = random() % 4; packet > 0; --packet) {
      ++number;
      if (random() % 50 == 0) continue;
      latest = std::max(latest, sent + TimeDelta::Millis(20) + queue);
      const Arrival a =
          reported.OnArrival({.arrival_time = latest, .send_time = sent, .number = number, .size = kSize});
      const auto b = statistics.OnPacket({.arrival_time = latest,
                                          .sequence_number = static_cast<uint16_t>(number),
                                          .has_abs_send_time = true,
                                          .abs_send_time = static_cast<uint32_t>(tick << 12) & 0xFFFFFF,
                                          .payload_size = 1200});
      ASSERT_TRUE(b);
      ASSERT_EQ(a.lost_change, b->lost_change);
      ASSERT_EQ(a.has_delay, b->has_delay);
      ASSERT_EQ(a.queueing_delay, b->queueing_delay);
      ASSERT_EQ(a.delay_change, b->delay_change);
      ASSERT_EQ(a.delay_stands, b->delay_stands);
    }
  }
}

}  // namespace
}  // namespace weir
