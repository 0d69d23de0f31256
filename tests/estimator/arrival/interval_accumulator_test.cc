#include "arrival/interval_accumulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "test_stream.h"
#include "weir/interval_statistics_fields.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(50);
constexpr DataRate kEstimate = DataRate::KilobitsPerSecond(1000);

Arrival At(TimeDelta time, TimeDelta queueing_delay = TimeDelta::Zero(), int32_t lost_change = 0) {
  return ArrivalOf(kStart + time, 1000, queueing_delay, lost_change);
}

class IntervalAccumulatorTest : public testing::Test {
 protected:
  IntervalAccumulatorTest() { accumulator_.Start(kStart); }
  IntervalStatistics Take(TimeDelta time) { return accumulator_.Take(kStart + time, kEstimate); }

  IntervalAccumulator accumulator_;
};

TEST_F(IntervalAccumulatorTest, SumsUpWhatArrived) {
  for (int i = 0; i < 10; ++i) {
    Arrival arrival = At(TimeDelta::Millis(10 * i + 5), TimeDelta::Millis(i));
    arrival.packet.kind = i < 6   ? PacketKind::kVideo
                          : i < 8 ? PacketKind::kAudio
                          : i < 9 ? PacketKind::kProbe
                                  : PacketKind::kRetransmission;
    accumulator_.OnArrival(arrival);
  }
  const IntervalStatistics statistics = Take(TimeDelta::Millis(100));
  EXPECT_DOUBLE_EQ(statistics.interval_s, 0.1);
  EXPECT_DOUBLE_EQ(statistics.receive_rate_bps, 800'000);
  EXPECT_EQ(statistics.packets_received, 10);
  EXPECT_EQ(statistics.bytes_received, 10'000);
  EXPECT_NEAR(statistics.queueing_delay_mean_s, 0.0045, 1e-9);
  EXPECT_EQ(statistics.queueing_delay_min_s, 0);
  EXPECT_NEAR(statistics.queueing_delay_max_s, 0.009, 1e-9);
  EXPECT_NEAR(statistics.delay_gradient, 0.1, 1e-9);  // 1 ms each 10 ms
  EXPECT_NEAR(statistics.delay_ratio, (0.050 + 0.0045) / 0.050, 1e-9);
  EXPECT_NEAR(statistics.interarrival_time_mean_s, 0.010, 1e-9);
  EXPECT_NEAR(statistics.time_since_last_packet_s, 0.005, 1e-9);
  EXPECT_EQ(statistics.sending_ratio, 1);
  EXPECT_DOUBLE_EQ(statistics.video_share, 0.6);
  EXPECT_DOUBLE_EQ(statistics.audio_share, 0.2);
  EXPECT_DOUBLE_EQ(statistics.probe_share, 0.1);
  EXPECT_DOUBLE_EQ(statistics.retransmission_share, 0.1);
  EXPECT_EQ(statistics.last_estimate_bps, 1e6);
}

TEST_F(IntervalAccumulatorTest, TheGradientIsBounded) {
  accumulator_.OnArrival(At(TimeDelta::Zero(), TimeDelta::Micros(243'628)));
  accumulator_.OnArrival(At(TimeDelta::Micros(2), TimeDelta::Micros(1)));
  EXPECT_EQ(Take(TimeDelta::Millis(100)).delay_gradient, -kMaxDelayGradient);
}

TEST_F(IntervalAccumulatorTest, SilenceIsARecord) {
  accumulator_.OnArrival(At(TimeDelta::Millis(90), TimeDelta::Millis(40)));
  Take(TimeDelta::Millis(100));
  Take(TimeDelta::Millis(200));
  const IntervalStatistics silent = Take(TimeDelta::Millis(300));
  EXPECT_EQ(silent.receive_rate_bps, 0);
  EXPECT_EQ(silent.packets_received, 0);
  EXPECT_NEAR(silent.queueing_delay_mean_s, 0.040, 1e-9);
  EXPECT_NEAR(silent.queueing_delay_p95_s, 0.040, 1e-9);
  EXPECT_NEAR(silent.time_since_last_packet_s, 0.210, 1e-9);
  EXPECT_EQ(silent.sending_ratio, 1);
  EXPECT_EQ(silent.loss_ratio, 0);
  EXPECT_EQ(silent.application_limited, 0);
}

TEST_F(IntervalAccumulatorTest, LateArrivalsAreCarriedIntoTheNextInterval) {
  accumulator_.OnArrival(At(TimeDelta::Millis(10), TimeDelta::Zero(), 3));
  EXPECT_EQ(Take(TimeDelta::Millis(100)).packets_lost, 3);
  for (int i = 0; i < 2; ++i) accumulator_.OnArrival(At(TimeDelta::Millis(110), TimeDelta::Zero(), -1));
  EXPECT_EQ(Take(TimeDelta::Millis(200)).packets_lost, 0);
  accumulator_.OnArrival(At(TimeDelta::Millis(210), TimeDelta::Zero(), 5));
  EXPECT_EQ(Take(TimeDelta::Millis(300)).packets_lost, 3);
}

TEST_F(IntervalAccumulatorTest, LossAndSendingRatio) {
  accumulator_.OnArrival(At(TimeDelta::Millis(10), TimeDelta::Zero(), 3));
  const IntervalStatistics statistics = Take(TimeDelta::Millis(100));
  EXPECT_DOUBLE_EQ(statistics.loss_ratio, 0.75);
  EXPECT_DOUBLE_EQ(statistics.sending_ratio, 4);
  accumulator_.OnArrival(At(TimeDelta::Millis(110), TimeDelta::Zero(), 2998));
  EXPECT_EQ(Take(TimeDelta::Millis(200)).sending_ratio, 100);
}

TEST_F(IntervalAccumulatorTest, P95IsWithinTenPercent) {
  std::mt19937 random(5);
  std::lognormal_distribution<double> delay_us(10, 2);
  for (int round = 1; round <= 50; ++round) {
    std::vector<double> delays;
    const int count = 1 + static_cast<int>(random() % 500);
    for (int i = 0; i < count; ++i) {
      const auto us = static_cast<int64_t>(std::min(delay_us(random), 2e8));
      delays.push_back(static_cast<double>(us) * 1e-6);
      accumulator_.OnArrival(At(TimeDelta::Millis(100 * round - 50), TimeDelta::Micros(us)));
    }
    std::sort(delays.begin(), delays.end());
    const double exact = delays[static_cast<size_t>(std::ceil(0.95 * count)) - 1];
    EXPECT_NEAR(Take(TimeDelta::Millis(100 * round)).queueing_delay_p95_s, exact, 0.1 * exact + 1e-6);
  }
}

TEST_F(IntervalAccumulatorTest, ApplicationLimitedNeedsAnIdlePath) {
  const auto limited = [this](int packets, TimeDelta delay, int32_t lost) {
    static int64_t interval = 0;
    for (int i = 0; i < packets; ++i) {
      accumulator_.OnArrival(At(TimeDelta::Millis(100 * interval + 10 * i), delay, i == 0 ? lost : 0));
    }
    return Take(TimeDelta::Millis(100 * ++interval)).application_limited == 1;
  };
  EXPECT_TRUE(limited(5, TimeDelta::Zero(), 0));
  EXPECT_FALSE(limited(12, TimeDelta::Zero(), 0));
  EXPECT_FALSE(limited(5, TimeDelta::Millis(30), 0));
  EXPECT_FALSE(limited(5, TimeDelta::Zero(), 1));
  EXPECT_FALSE(limited(0, TimeDelta::Zero(), 0));
}

TEST_F(IntervalAccumulatorTest, JitterFollowsRfc3550) {
  double jitter = 0;
  for (int i = 0; i < 50; ++i) {
    Arrival arrival = At(TimeDelta::Millis(i));
    arrival.delay_change = TimeDelta::Millis(i % 2 == 0 ? 4 : -4);
    accumulator_.OnArrival(arrival);
    jitter += (0.004 - jitter) / 16;
  }
  EXPECT_NEAR(Take(TimeDelta::Millis(100)).jitter_s, jitter, 1e-9);
}

TEST_F(IntervalAccumulatorTest, AbsurdRoundTripTimesAreIgnored) {
  accumulator_.OnRoundTripTime(TimeDelta::Millis(200));
  for (const TimeDelta rtt : {TimeDelta::Zero(), TimeDelta::Seconds(-1), TimeDelta::Seconds(3600),
                              TimeDelta::PlusInfinity(), TimeDelta::MinusInfinity()}) {
    accumulator_.OnRoundTripTime(rtt);
  }
  accumulator_.OnArrival(At(TimeDelta::Millis(1), TimeDelta::Millis(100)));
  EXPECT_NEAR(Take(TimeDelta::Millis(100)).delay_ratio, 2, 1e-9);
}

TEST_F(IntervalAccumulatorTest, TheBaseRoundTripTimeIsTheSmallestOfTheLastTen) {
  EXPECT_NEAR(Take(TimeDelta::Millis(100)).base_round_trip_time_s, 0.1, 1e-9);  // unknown
  accumulator_.OnRoundTripTime(TimeDelta::Millis(300));
  EXPECT_NEAR(Take(TimeDelta::Millis(200)).base_round_trip_time_s, 0.3, 1e-9);
  accumulator_.OnRoundTripTime(TimeDelta::Millis(40));
  for (int i = 0; i < 9; ++i) accumulator_.OnRoundTripTime(TimeDelta::Millis(200));
  EXPECT_NEAR(Take(TimeDelta::Millis(300)).base_round_trip_time_s, 0.04, 1e-9);
  accumulator_.OnRoundTripTime(TimeDelta::Millis(250));
  EXPECT_NEAR(Take(TimeDelta::Millis(400)).base_round_trip_time_s, 0.2, 1e-9);
}

TEST_F(IntervalAccumulatorTest, EverythingIsFiniteWhateverComes) {
  std::mt19937_64 random(7);
  const auto finite = [](const IntervalStatistics& statistics) {
    return std::all_of(kIntervalStatisticsFields.begin(), kIntervalStatisticsFields.end(),
                       [&](const auto& field) { return std::isfinite(statistics.*field.member); });
  };
  Timestamp now = kStart;
  for (int i = 0; i < 20'000; ++i) {
    Arrival arrival = At(TimeDelta::Micros(static_cast<int64_t>(random()) >> (random() % 60 + 3)));
    arrival.queueing_delay = TimeDelta::Micros(static_cast<int64_t>(random() >> (random() % 60 + 3)));
    arrival.delay_change = TimeDelta::Micros(static_cast<int64_t>(random()) >> (random() % 60 + 3));
    arrival.lost_change = static_cast<int32_t>(random() % 3000);
    accumulator_.OnArrival(arrival);
    if (random() % 4 == 0) {
      now = std::max(now, now + TimeDelta::Micros(static_cast<int64_t>(random() >> (random() % 40 + 20)) - 100));
      EXPECT_TRUE(finite(accumulator_.Take(now, DataRate::BitsPerSecond(static_cast<int64_t>(random() >> 2)))));
    }
  }
}

TEST(IntervalAccumulatorStartTest, BeginsWithTheFirstArrivalWhenNotStarted) {
  IntervalAccumulator accumulator;
  accumulator.OnArrival(At(TimeDelta::Millis(20)));
  EXPECT_NEAR(accumulator.Take(kStart + TimeDelta::Millis(100), kEstimate).interval_s, 0.080, 1e-9);
}

}  // namespace
}  // namespace weir
