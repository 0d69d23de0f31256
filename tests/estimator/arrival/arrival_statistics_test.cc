#include "arrival/arrival_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(100);
constexpr TimeDelta kSpacing = TimeDelta::Millis(10);

class ArrivalStatisticsTest : public testing::Test {
 protected:
  ArrivalStatistics statistics_;
  TestStream stream_;
};

TEST_F(ArrivalStatisticsTest, UnwrapsSequenceNumbers) {
  TestStream stream(1, 65'530);
  int64_t previous = 65'529;
  for (int i = 0; i < 200'000; ++i) {
    const std::optional<Arrival> arrival = statistics_.OnPacket(stream.Next(kStart + kSpacing * i));
    ASSERT_TRUE(arrival);
    ASSERT_EQ(arrival->sequence_number, ++previous);
    ASSERT_EQ(arrival->lost_change, 0);
  }
}

TEST_F(ArrivalStatisticsTest, UnwrapsReorderingAcrossTheWrap) {
  const auto number = [this](uint16_t sequence_number) {
    return statistics_.OnPacket(stream_.Make(sequence_number, kStart))->sequence_number;
  };
  EXPECT_EQ(number(65'534), 65'534);
  EXPECT_EQ(number(1), 65'537);
  EXPECT_EQ(number(65'535), 65'535);
  EXPECT_EQ(number(0), 65'536);
  EXPECT_EQ(number(2), 65'538);
}

TEST_F(ArrivalStatisticsTest, UnwrapsBelowTheFirstPacket) {
  EXPECT_EQ(statistics_.OnPacket(stream_.Make(0, kStart))->sequence_number, 0);
  const std::optional<Arrival> earlier = statistics_.OnPacket(stream_.Make(65'535, kStart));
  EXPECT_EQ(earlier->sequence_number, -1);
  // Never counted as lost, hence no loss taken back.
  EXPECT_EQ(earlier->lost_change, 0);
}

TEST_F(ArrivalStatisticsTest, CountsAGapAndTakesItBackWhenPacketsAreLate) {
  statistics_.OnPacket(stream_.Make(10, kStart));
  EXPECT_EQ(statistics_.OnPacket(stream_.Make(15, kStart))->lost_change, 4);
  EXPECT_EQ(statistics_.OnPacket(stream_.Make(12, kStart))->lost_change, -1);
  EXPECT_EQ(statistics_.OnPacket(stream_.Make(16, kStart))->lost_change, 0);
  EXPECT_EQ(statistics_.counters().reordered, 1u);
}

// A forwarding server passes on the gaps of a publisher whose uplink loses packets.
class UpstreamLossTest : public testing::Test {
 protected:
  // Half a minute of video streams with a packet each 10 ms, which lose packets at random. Returns the reported loss.
  static double ReportedLoss(const std::vector<double>& losses, PacketKind other_kind = PacketKind::kVideo) {
    ArrivalStatistics statistics;
    std::vector<TestStream> streams;
    for (uint32_t ssrc = 1; ssrc <= losses.size(); ++ssrc) streams.emplace_back(ssrc);
    std::mt19937 random(1);
    int64_t reported = 0;
    int64_t sent = 0;
    for (int i = 0; i < 3000; ++i) {
      for (size_t j = 0; j < streams.size(); ++j) {
        ++sent;
        if (random() % 1000 < losses[j] * 1000) {
          streams[j].Skip(1);
          continue;
        }
        PacketArrival packet = streams[j].Next(kStart + kSpacing * i);
        packet.kind = j == 0 ? PacketKind::kVideo : other_kind;
        if (const auto arrival = statistics.OnPacket(packet)) reported += arrival->lost_change;
      }
    }
    return static_cast<double>(reported) / static_cast<double>(sent);
  }
};

TEST_F(UpstreamLossTest, LossOfOneStreamIsNotTheLinks) {
  EXPECT_LT(ReportedLoss({0.4, 0, 0, 0, 0}), 0.005);
  EXPECT_LT(ReportedLoss({0.4, 0.3, 0, 0, 0}), 0.01);
}

TEST_F(UpstreamLossTest, LossThatAllStreamsShareIsTheLinks) {
  EXPECT_NEAR(ReportedLoss({0.1, 0.1, 0.1, 0.1, 0.1}), 0.1, 0.01);
  EXPECT_NEAR(ReportedLoss({0.4, 0.2, 0.2, 0.2, 0.2}), 0.24, 0.02);
}

TEST_F(UpstreamLossTest, LossCountsWithoutTwoWitnesses) {
  EXPECT_NEAR(ReportedLoss({0.4}), 0.4, 0.02);
  EXPECT_NEAR(ReportedLoss({0.4, 0}), 0.2, 0.02);
  // Audio, whose small packets a short queue seldom drops, is no witness of video.
  EXPECT_NEAR(ReportedLoss({0.4, 0, 0, 0, 0}, PacketKind::kAudio), 0.08, 0.01);
}

TEST_F(UpstreamLossTest, LatePacketsTakeBackOnlyWhatWasCounted) {
  ArrivalStatistics statistics;
  TestStream lossy(1);
  std::vector<TestStream> others{TestStream(2), TestStream(3), TestStream(4)};
  int64_t reported = 0;
  std::vector<uint16_t> late;
  for (int i = 0; i < 1000; ++i) {
    const Timestamp now = kStart + kSpacing * i;
    for (TestStream& other : others) statistics.OnPacket(other.Next(now));
    const auto number = static_cast<uint16_t>(i);
    if (i % 3 == 2) {
      late.push_back(number);
      continue;
    }
    reported += statistics.OnPacket(lossy.Make(number, now))->lost_change;
    if (late.size() < 4) continue;
    for (const uint16_t missing : late) reported += statistics.OnPacket(lossy.Make(missing, now))->lost_change;
    late.clear();
  }
  EXPECT_GE(reported, 0);
  EXPECT_LE(reported, 4);
}

TEST_F(ArrivalStatisticsTest, DropsDuplicates) {
  for (const uint16_t sequence_number : {5, 6, 8}) statistics_.OnPacket(stream_.Make(sequence_number, kStart));
  for (int i = 0; i < 1000; ++i) {
    for (const uint16_t sequence_number : {5, 6, 8}) {
      EXPECT_FALSE(statistics_.OnPacket(stream_.Make(sequence_number, kStart)));
    }
  }
  EXPECT_EQ(statistics_.counters().duplicates, 3000u);
  EXPECT_TRUE(statistics_.OnPacket(stream_.Make(7, kStart)));
  EXPECT_FALSE(statistics_.OnPacket(stream_.Make(7, kStart)));
}

// A path, or a host, delivers each ten packets twice; then the sender restarts and uses the same numbers again.
TEST_F(ArrivalStatisticsTest, RisingCopiesAreNoRestartAndARestartedSenderIs) {
  for (const bool has_abs_send_time : {true, false}) {
    ArrivalStatistics statistics;
    const TestStream stream;
    const auto packet = [&](int number, int sent) {
      PacketArrival made = stream.Make(static_cast<uint16_t>(number), kStart + kSpacing * sent);
      made.has_abs_send_time = has_abs_send_time;
      made.rtp_clock_rate = 90'000;
      made.rtp_timestamp = static_cast<uint32_t>(900 * sent);
      return made;
    };
    for (int block = 0; block < 100; ++block) {
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(statistics.OnPacket(packet(10 * block + i, 10 * block + i)));
      for (int i = 0; i < 10; ++i) EXPECT_FALSE(statistics.OnPacket(packet(10 * block + i, 10 * block + i)));
    }
    EXPECT_EQ(statistics.counters().restarts, 0u);
    EXPECT_EQ(statistics.counters().duplicates, 1000u);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(statistics.OnPacket(packet(500 + i, 1000 + i)).has_value(), i == 9) << i;
    EXPECT_EQ(statistics.counters().restarts, 1u);
  }
}

TEST_F(ArrivalStatisticsTest, SumOfLossIsRightAtAnyReorderingDepth) {
  std::mt19937 random(1);
  for (const int depth : {1, 3, 20, 100, 500, 1000}) {
    ArrivalStatistics statistics;
    const TestStream stream;
    std::vector<std::pair<int, int>> order;  // place on the wire, number
    int sent = 0;
    for (int number = 0; number < 100'000; ++number) {
      if (random() % 10 == 0 && number > 0 && number < 99'999) continue;
      ++sent;
      order.emplace_back(number + static_cast<int>(random() % static_cast<unsigned>(depth)), number);
    }
    order.back().first += 2 * depth;
    order.front().first = -1;
    std::stable_sort(order.begin(), order.end());
    int64_t lost = 0;
    int received = 0;
    for (const auto& [place, number] : order) {
      const auto arrival = statistics.OnPacket(stream.Make(static_cast<uint16_t>(number), kStart + kSpacing * place));
      ASSERT_TRUE(arrival);
      EXPECT_EQ(arrival->sequence_number, number);
      ++received;
      lost += arrival->lost_change;
    }
    EXPECT_EQ(received, sent);
    EXPECT_EQ(lost, 100'000 - sent) << "depth " << depth;
  }
}

TEST_F(ArrivalStatisticsTest, RestartsAfterALeap) {
  statistics_.OnPacket(stream_.Make(100, kStart));
  EXPECT_FALSE(statistics_.OnPacket(stream_.Make(30'100, kStart)));
  const std::optional<Arrival> restarted = statistics_.OnPacket(stream_.Make(30'101, kStart));
  ASSERT_TRUE(restarted);
  EXPECT_EQ(restarted->sequence_number, 30'101);
  EXPECT_EQ(restarted->lost_change, 0);
  EXPECT_EQ(statistics_.OnPacket(stream_.Make(30'103, kStart))->lost_change, 1);
  EXPECT_EQ(statistics_.counters().restarts, 1u);
  EXPECT_EQ(statistics_.counters().invalid, 1u);
}

TEST_F(ArrivalStatisticsTest, AStrayPacketDoesNotRestart) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(statistics_.OnPacket(stream_.Next(kStart + kSpacing * i)));
    EXPECT_FALSE(statistics_.OnPacket(stream_.Make(static_cast<uint16_t>(40'000 + i), kStart + kSpacing * i)));
  }
  EXPECT_EQ(statistics_.counters().restarts, 0u);
}

TEST_F(ArrivalStatisticsTest, CountsLossUpToTheMaximumDropout) {
  statistics_.OnPacket(stream_.Make(0, kStart));
  constexpr TimeDelta kOutage = TimeDelta::Seconds(1);
  EXPECT_EQ(statistics_.OnPacket(stream_.Make(2999, kStart + kOutage))->lost_change, 2998);
  EXPECT_FALSE(statistics_.OnPacket(stream_.Make(5999, kStart + kOutage * 2)));
}

TEST_F(ArrivalStatisticsTest, MeasuresQueueingDelayAcrossAbsSendTimeWraps) {
  for (int i = 0; i < 20'000; ++i) {  // 200 s, three wraps
    const TimeDelta queueing = TimeDelta::Millis(i % 50);
    const auto arrival = statistics_.OnPacket(stream_.Next(kStart + kSpacing * i, TimeDelta::Millis(25) + queueing));
    ASSERT_TRUE(arrival->has_delay);
    ASSERT_NEAR(static_cast<double>(arrival->queueing_delay.us()), static_cast<double>(queueing.us()), 10) << i;
  }
  EXPECT_EQ(statistics_.counters().clock_restarts, 0u);
}

TEST_F(ArrivalStatisticsTest, SurvivesSilencesOfAnyLength) {
  for (const int64_t silence_s : {1, 31, 32, 33, 63, 64, 65, 96, 3 * 3600, 30 * 86'400}) {
    ArrivalStatistics statistics;
    TestStream stream;
    for (int i = 0; i < 100; ++i) statistics.OnPacket(stream.Next(kStart + kSpacing * i));
    const Timestamp resumed = kStart + TimeDelta::Seconds(silence_s);
    for (int i = 0; i < 100; ++i) {
      const TimeDelta queueing = TimeDelta::Millis(i);
      const auto arrival = statistics.OnPacket(stream.Next(resumed + kSpacing * i, TimeDelta::Millis(25) + queueing));
      ASSERT_TRUE(arrival && arrival->has_delay);
      EXPECT_NEAR(static_cast<double>(arrival->queueing_delay.us()), static_cast<double>(queueing.us()), 10)
          << silence_s << " s";
      EXPECT_EQ(arrival->lost_change, 0);
    }
    EXPECT_EQ(statistics.counters().clock_restarts, 0u) << silence_s << " s";
  }
}

TEST_F(ArrivalStatisticsTest, DelayChangeIsTheDifferenceOfDelays) {
  statistics_.OnPacket(stream_.Next(kStart, TimeDelta::Millis(30)));
  const auto later = statistics_.OnPacket(stream_.Next(kStart + kSpacing, TimeDelta::Millis(37)));
  EXPECT_NEAR(later->delay_change.seconds(), 0.007, 1e-5);
  const auto lower = statistics_.OnPacket(stream_.Next(kStart + kSpacing * 2, TimeDelta::Millis(20)));
  EXPECT_NEAR(lower->delay_change.seconds(), -0.017, 1e-5);
  EXPECT_EQ(lower->queueing_delay, TimeDelta::Zero());
}

TEST_F(ArrivalStatisticsTest, ForgetsTheBaseDelayAfterHalfAMinute) {
  statistics_.OnPacket(stream_.Next(kStart));
  std::optional<Arrival> arrival;
  // The route has become 40 ms longer.
  for (int i = 1; i <= 2600; ++i) {
    arrival = statistics_.OnPacket(stream_.Next(kStart + kSpacing * i, TimeDelta::Millis(65)));
  }
  EXPECT_NEAR(arrival->queueing_delay.seconds(), 0.040, 1e-4);
  // The first 5 s of the new base are a measurement.
  for (int i = 2601; i <= 3600; ++i) {
    arrival = statistics_.OnPacket(stream_.Next(kStart + kSpacing * i, TimeDelta::Millis(65)));
  }
  EXPECT_NEAR(arrival->queueing_delay.seconds(), 0, 1e-4);
}

TEST_F(ArrivalStatisticsTest, ClockDriftStaysSmall) {
  for (int i = 0; i < 60'000; ++i) {  // ten minutes, the sender's clock 500 ppm slow
    const TimeDelta elapsed = kSpacing * i;
    const auto arrival = statistics_.OnPacket(stream_.Next(kStart + elapsed, TimeDelta::Millis(25) + elapsed * 500e-6));
    ASSERT_LE(arrival->queueing_delay, TimeDelta::Millis(17)) << i;
  }
  EXPECT_EQ(statistics_.counters().clock_restarts, 0u);
}

class ClockStepTest : public testing::TestWithParam<int64_t> {};

TEST_P(ClockStepTest, DelayIsRightAgainAfterwards) {
  const TimeDelta step = TimeDelta::Seconds(GetParam());
  ArrivalStatistics statistics;
  TestStream stream;
  for (int i = 0; i < 100; ++i) statistics.OnPacket(stream.Next(kStart + kSpacing * i));
  for (int i = 100; i < 200; ++i) {
    const TimeDelta queueing = TimeDelta::Millis(std::max(i - 105, 0));
    const auto arrival =
        statistics.OnPacket(stream.Next(kStart + kSpacing * i, TimeDelta::Millis(25) + step + queueing));
    ASSERT_TRUE(arrival) << i;
    EXPECT_EQ(arrival->lost_change, 0);
    ASSERT_TRUE(arrival->has_delay || i < 100 + SendTimeFilter::kConfirmations) << i;
    EXPECT_NEAR(arrival->queueing_delay.seconds(), queueing.seconds(), 1e-4) << i;
  }
}

// A step ahead by less could as well be a path that stalls.
INSTANTIATE_TEST_SUITE_P(ReceiverClock, ClockStepTest,
                         testing::Values(-86'400, -3600, -100, -10, 11, 40, 64, 100, 3600, 86'400));

// Leaps of the sender's clock in ms, in abs-send-time and in RTP timestamps of 90 kHz.
class SenderClockTest : public testing::TestWithParam<bool> {
 protected:
  std::optional<Arrival> Send(Timestamp sent, TimeDelta delay) {
    PacketArrival packet = stream_.Next(sent + clock_error, delay);
    packet.arrival_time = sent + delay;
    packet.has_abs_send_time = GetParam();
    packet.rtp_timestamp = static_cast<uint32_t>((sent + clock_error).us() * 9 / 100);
    packet.rtp_clock_rate = 90'000;
    return statistics.OnPacket(packet);
  }
  // A queue of 60 ms on a path of 25 ms.
  Timestamp Begin() {
    Send(kStart, TimeDelta::Millis(25));
    for (int i = 1; i < 100; ++i) Send(kStart + kSpacing * i, TimeDelta::Millis(85));
    return kStart + kSpacing * 100;
  }

  TimeDelta clock_error = TimeDelta::Zero();
  ArrivalStatistics statistics;

 private:
  TestStream stream_;
};

INSTANTIATE_TEST_SUITE_P(Clocks, SenderClockTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "AbsSendTime" : "RtpTimestamp"; });

TEST_P(SenderClockTest, OnePacketOfAnotherTimeBlindsNothing) {
  const Timestamp time = Begin();
  // 2^30 ticks of 90 kHz, 5 minutes back, 3 s late, 20 s ahead.
  int outliers = 0;
  for (const int64_t stray_ms : {11'930'465, -300'000, -3000, 20'000}) {
    const Timestamp sent = time + kSpacing * (2 * outliers);
    clock_error = TimeDelta::Millis(stray_ms);
    const auto stray = Send(sent, TimeDelta::Millis(85));
    EXPECT_FALSE(stray->has_delay) << stray_ms;
    EXPECT_NEAR(stray->queueing_delay.seconds(), outliers == 0 ? 0.060 : 0.065, 1e-4) << stray_ms;
    clock_error = TimeDelta::Zero();
    const auto next = Send(sent + kSpacing, TimeDelta::Millis(90));
    EXPECT_TRUE(next->has_delay) << stray_ms;
    EXPECT_NEAR(next->queueing_delay.seconds(), 0.065, 1e-4) << stray_ms;
    EXPECT_EQ(statistics.counters().send_time_outliers, static_cast<uint64_t>(++outliers));
  }
  EXPECT_EQ(statistics.counters().clock_restarts, 0u);
}

TEST_P(SenderClockTest, AStepLeavesTheQueueWhatItWas) {
  const Timestamp time = Begin();
  uint64_t steps = 0;
  for (const int64_t step_ms : {-300'000, 300'000, -1000, 10'000, -5000}) {
    const Timestamp start = time + kSpacing * (100 * static_cast<int>(steps));
    clock_error += TimeDelta::Millis(step_ms);
    for (int i = 0; i < 100; ++i) {
      const auto arrival = Send(start + kSpacing * i, TimeDelta::Millis(85));
      EXPECT_EQ(arrival->has_delay, i >= SendTimeFilter::kConfirmations - 1) << step_ms << ", " << i;
      EXPECT_NEAR(arrival->queueing_delay.seconds(), 0.060, 1e-4) << step_ms;
    }
    EXPECT_EQ(statistics.counters().clock_restarts, ++steps);
  }
}

TEST_F(ArrivalStatisticsTest, ARepeatedPacketTellsNoTime) {
  PacketArrival packet = stream_.Next(kStart);
  packet.has_abs_send_time = false;
  packet.rtp_clock_rate = 90'000;
  packet.kind = PacketKind::kRetransmission;
  EXPECT_FALSE(statistics_.OnPacket(packet)->has_delay);
  packet = stream_.Next(kStart);
  packet.kind = PacketKind::kRetransmission;
  EXPECT_TRUE(statistics_.OnPacket(packet)->has_delay);
}

TEST_F(ArrivalStatisticsTest, ArrivalTimesHandedOnNeverRunBackwards) {
  Timestamp previous = Timestamp::MinusInfinity();
  std::mt19937 random(3);
  for (int i = 0; i < 1000; ++i) {
    const TimeDelta jitter = TimeDelta::Millis(static_cast<int64_t>(random() % 50));
    const auto arrival = statistics_.OnPacket(stream_.Next(kStart + kSpacing * i, TimeDelta::Millis(25) + jitter));
    EXPECT_GE(arrival->packet.arrival_time, previous);
    EXPECT_LE(arrival->queueing_delay, TimeDelta::Millis(50));
    previous = arrival->packet.arrival_time;
  }
}

TEST_F(ArrivalStatisticsTest, FallsBackToRtpTimestamps) {
  uint32_t rtp_timestamp = 0xFFFF0000;  // wraps soon
  for (int frame = 0; frame < 300; ++frame) {
    const TimeDelta queueing = TimeDelta::Millis(frame % 20);
    for (int i = 0; i < 3; ++i) {
      const Timestamp sent = kStart + TimeDelta::Millis(33) * frame + TimeDelta::Millis(2 * i);
      PacketArrival packet = stream_.Next(sent, TimeDelta::Millis(25) + queueing);
      packet.has_abs_send_time = false;
      packet.rtp_timestamp = rtp_timestamp;
      packet.rtp_clock_rate = 90'000;
      const std::optional<Arrival> arrival = statistics_.OnPacket(packet);
      EXPECT_EQ(arrival->has_delay, i == 0);
      EXPECT_NEAR(arrival->queueing_delay.seconds(), queueing.seconds(), 1e-4);
    }
    rtp_timestamp += 33 * 90;
  }
  EXPECT_EQ(statistics_.counters().clock_restarts, 0u);
}

TEST_F(ArrivalStatisticsTest, HoldsTheDelayWithoutAnySendTime) {
  statistics_.OnPacket(stream_.Next(kStart, TimeDelta::Millis(25)));
  statistics_.OnPacket(stream_.Next(kStart + kSpacing, TimeDelta::Millis(45)));
  PacketArrival packet = stream_.Next(kStart + kSpacing * 2, TimeDelta::Millis(300));
  packet.has_abs_send_time = false;
  packet.rtp_clock_rate = 90'000;  // not used while abs-send-time is about
  const std::optional<Arrival> arrival = statistics_.OnPacket(packet);
  EXPECT_FALSE(arrival->has_delay);
  EXPECT_NEAR(arrival->queueing_delay.seconds(), 0.020, 1e-4);
}

TEST_F(ArrivalStatisticsTest, AFewAbsSendTimesDoNotReplaceRtpTimestamps) {
  for (int i = 0; i < 400; ++i) {
    const Timestamp sent = kStart + kSpacing * i;
    PacketArrival packet = stream_.Next(sent, TimeDelta::Millis(25));
    packet.has_abs_send_time = (i >= 200 && i < 205) || i >= 300;
    if (i < 205) packet.abs_send_time -= static_cast<uint32_t>(i % 5) << 18;
    packet.rtp_timestamp = static_cast<uint32_t>(sent.us() * 9 / 100);
    packet.rtp_clock_rate = i < 350 ? 90'000 : 0;
    const std::optional<Arrival> arrival = statistics_.OnPacket(packet);
    EXPECT_TRUE(arrival->has_delay) << i;
    EXPECT_NEAR(arrival->queueing_delay.seconds(), 0, 1e-3) << i;
  }
}

TEST_F(ArrivalStatisticsTest, AbsurdClockRatesAreNoClock) {
  for (const uint32_t rate : {0u, 1u, 999u, 1'000'001u, 0xFFFFFFFFu}) {
    PacketArrival packet = stream_.Next(kStart);
    packet.has_abs_send_time = false;
    packet.rtp_clock_rate = rate;
    EXPECT_FALSE(statistics_.OnPacket(packet)->has_delay) << rate;
  }
}

TEST_F(ArrivalStatisticsTest, ManySsrcsNeverCostMoreThanTheTable) {
  TestStream media(0xFFFFFFFF);
  for (uint32_t i = 0; i < 100'000; ++i) {
    const Timestamp now = kStart + TimeDelta::Millis(i);
    ASSERT_TRUE(statistics_.OnPacket(TestStream(i).Next(now)));
    // A stream in use is not evicted: no restart, no false loss.
    if (i % 100 == 0) {
      EXPECT_EQ(statistics_.OnPacket(media.Next(now))->sequence_number, i / 100);
    }
  }
  EXPECT_EQ(statistics_.counters().ssrc_evictions, 100'001u - ArrivalStatistics::kMaxSsrcs);
  std::vector<uint32_t> ssrcs(1000);
  EXPECT_EQ(statistics_.Ssrcs(ssrcs), ArrivalStatistics::kMaxSsrcs);
  EXPECT_EQ(ssrcs[0], 99'999u);
}

TEST_F(ArrivalStatisticsTest, StreamsThatEndAreListedNoMore) {
  std::vector<uint32_t> ssrcs(3);
  for (const uint32_t ssrc : {7, 8, 9}) statistics_.OnPacket(TestStream(ssrc).Next(kStart));
  statistics_.RemoveStream(8);
  statistics_.RemoveStream(100);
  ASSERT_EQ(statistics_.Ssrcs(ssrcs), 2u);
  EXPECT_EQ(ssrcs[0], 9u);
  EXPECT_EQ(ssrcs[1], 7u);
  // No stream ends while all pause; while one sends, streams that pause for long end.
  statistics_.OnPacket(TestStream(8, 1).Next(kStart + TimeDelta::Seconds(20)));
  EXPECT_EQ(statistics_.Ssrcs(ssrcs), 3u);
  statistics_.OnPacket(TestStream(8, 2).Next(kStart + TimeDelta::Seconds(30)));
  EXPECT_EQ(statistics_.Ssrcs(ssrcs), 3u);
  statistics_.OnPacket(TestStream(8, 3).Next(kStart + TimeDelta::Seconds(31)));
  ASSERT_EQ(statistics_.Ssrcs(ssrcs), 1u);
  EXPECT_EQ(ssrcs[0], 8u);
  statistics_.OnPacket(TestStream(7, 1).Next(kStart + TimeDelta::Seconds(31)));
  EXPECT_EQ(statistics_.Ssrcs(ssrcs), 2u);
  // The receiver's clock is set back: the others are not from the future.
  statistics_.OnPacket(TestStream(8, 4).Next(kStart - TimeDelta::Seconds(1000)));
  EXPECT_EQ(statistics_.Ssrcs(ssrcs), 3u);
  statistics_.OnPacket(TestStream(8, 5).Next(kStart - TimeDelta::Seconds(969)));
  EXPECT_EQ(statistics_.Ssrcs(ssrcs), 1u);
}

// Unmeasured streams cost no memory; only the first packets of streams beyond the prepared ones allocate.
TEST_F(ArrivalStatisticsTest, AStreamMeasuredByItsRtpTimestampsIsForgottenWithItsSlot) {
  const auto packet = [](uint32_t ssrc, uint32_t i) {
    PacketArrival made = TestStream(ssrc, static_cast<uint16_t>(i)).Next(kStart + TimeDelta::Millis(10 * i));
    made.has_abs_send_time = false;
    made.rtp_clock_rate = 90'000;
    made.rtp_timestamp = 900 * i + ssrc;
    return made;
  };
  for (uint32_t i = 0; i < 3; ++i) EXPECT_TRUE(statistics_.OnPacket(packet(5, i))->has_delay);
  for (uint32_t ssrc = 100; ssrc < 100 + ArrivalStatistics::kMaxSsrcs; ++ssrc) statistics_.OnPacket(packet(ssrc, 3));
  EXPECT_EQ(statistics_.counters().ssrc_evictions, 1u);
  // The slot's next owner has a clock of its own, 1000 s away, which is no leap.
  PacketArrival next = packet(5, 4);
  next.rtp_timestamp += 90'000'000;
  EXPECT_TRUE(statistics_.OnPacket(next)->has_delay);
  EXPECT_EQ(statistics_.counters().clock_restarts, 0u);
}

TEST_F(ArrivalStatisticsTest, ListsSsrcsMostRecentFirst) {
  for (const uint32_t ssrc : {7, 8, 9}) statistics_.OnPacket(TestStream(ssrc).Next(kStart));
  statistics_.OnPacket(TestStream(7, 1).Next(kStart));
  std::vector<uint32_t> ssrcs(2);
  EXPECT_EQ(statistics_.Ssrcs(ssrcs), 2u);
  EXPECT_EQ(ssrcs, (std::vector<uint32_t>{7, 9}));
}

TEST_F(ArrivalStatisticsTest, AcceptsExtremeSizesAndRefusesImpossibleOnes) {
  PacketArrival packet = stream_.Next(kStart, TimeDelta::Zero(), 0);
  packet.header_size = 0;
  EXPECT_TRUE(statistics_.OnPacket(packet));
  EXPECT_TRUE(statistics_.OnPacket(stream_.Next(kStart, TimeDelta::Zero(), 65'515)));
  EXPECT_FALSE(statistics_.OnPacket(stream_.Next(kStart, TimeDelta::Zero(), 65'516)));
  packet = stream_.Next(kStart);
  packet.header_size = packet.payload_size = packet.padding_size = 0xFFFFFFFF;
  EXPECT_FALSE(statistics_.OnPacket(packet));
  EXPECT_EQ(statistics_.counters().invalid, 2u);
}

TEST_F(ArrivalStatisticsTest, ExtremeTimesDoNotOverflow) {
  const int64_t limit = int64_t{1} << 61;
  for (const int64_t us : {int64_t{0}, limit, -limit, limit - 1, int64_t{5}, -limit + 7, int64_t{0}}) {
    PacketArrival packet = stream_.Next(kStart);
    packet.arrival_time = Timestamp::Micros(us);
    const std::optional<Arrival> arrival = statistics_.OnPacket(packet);
    ASSERT_TRUE(arrival);
    EXPECT_GE(arrival->queueing_delay, TimeDelta::Zero());
    EXPECT_TRUE(arrival->queueing_delay.IsFinite());
  }
  for (const Timestamp time : {Timestamp::PlusInfinity(), Timestamp::MinusInfinity(), Timestamp::Micros(limit + 1),
                               Timestamp::Micros(std::numeric_limits<int64_t>::max() - 1)}) {
    PacketArrival packet = stream_.Next(kStart);
    packet.arrival_time = time;
    EXPECT_FALSE(statistics_.OnPacket(packet));
  }
}

}  // namespace
}  // namespace weir
