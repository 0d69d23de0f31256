#include "arrival/arrival_history.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "test_stream.h"

namespace weir {
namespace {

constexpr TimeDelta kStep = TimeDelta::Millis(10);
constexpr uint32_t kBytes = 1250;  // with one packet a step: 1 Mbps

class ArrivalHistoryTest : public testing::Test {
 protected:
  // A packet each 10 ms with the delay that the function gives, and that many lost before it.
  void Feed(TimeDelta duration, const std::function<TimeDelta()>& delay, int32_t lost = 0) {
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += kStep;
      arrivals_.OnArrival(ArrivalOf(now_, kBytes, delay(), lost));
    }
  }
  void Feed(TimeDelta duration, TimeDelta delay, int32_t lost = 0) {
    Feed(duration, [delay] { return delay; }, lost);
  }
  QueueSign Look() {
    arrivals_.OnDecision(now_);
    return arrivals_.Sign();
  }

  Timestamp now_ = Timestamp::Seconds(5);
  ArrivalHistory arrivals_;
};

TEST_F(ArrivalHistoryTest, KnowsNothingWithoutPackets) {
  EXPECT_EQ(Look(), QueueSign::kUnknown);
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  EXPECT_EQ(Look(), QueueSign::kNone);
  now_ += TimeDelta::Millis(60);
  EXPECT_EQ(Look(), QueueSign::kUnknown);
}

TEST_F(ArrivalHistoryTest, RemembersWhatThePathCarriedForTenSeconds) {
  EXPECT_EQ(arrivals_.HighestSecondRate(), DataRate::Zero());
  Feed(TimeDelta::Seconds(3), TimeDelta::Zero());
  EXPECT_NEAR(static_cast<double>(arrivals_.HighestSecondRate().bps()), 1e6, 2e4);
  now_ += TimeDelta::Seconds(9);
  Look();
  EXPECT_NEAR(static_cast<double>(arrivals_.HighestSecondRate().bps()), 1e6, 2e4);
  now_ += TimeDelta::Seconds(2);
  Look();
  EXPECT_EQ(arrivals_.HighestSecondRate(), DataRate::Zero());
}

TEST_F(ArrivalHistoryTest, SeesAQueueComeAndGoWithinTwoTicks) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Millis(1));
  EXPECT_EQ(Look(), QueueSign::kNone);
  Feed(TimeDelta::Millis(60), TimeDelta::Millis(8));
  EXPECT_EQ(Look(), QueueSign::kQueue);
  EXPECT_TRUE(arrivals_.LatestWaited());
  // With an allowance it is none.
  EXPECT_EQ(arrivals_.Sign(TimeDelta::Millis(7)), QueueSign::kNone);
  EXPECT_FALSE(arrivals_.LatestWaited(TimeDelta::Millis(7)));
  Feed(TimeDelta::Millis(60), TimeDelta::Millis(1));
  EXPECT_EQ(Look(), QueueSign::kNone);
}

TEST_F(ArrivalHistoryTest, AQueueThatGrowsEvenlyIsNotTakenForJitter) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  TimeDelta delay = TimeDelta::Zero();
  Feed(TimeDelta::Seconds(3), [&delay] { return delay += TimeDelta::Micros(200); });
  EXPECT_EQ(Look(), QueueSign::kQueue);
}

TEST_F(ArrivalHistoryTest, JitterIsNoQueue) {
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int64_t> delay_ms(0, 80);
  const auto share = [&](int64_t queue_ms) {
    int none = 0;
    for (int i = 0; i < 300; ++i) {
      Feed(TimeDelta::Millis(100), [&] { return TimeDelta::Millis(queue_ms + delay_ms(random)); });
      if (i >= 30) none += Look() == QueueSign::kNone;
    }
    return none / 270.0;
  };
  EXPECT_GT(share(0), 0.5);
  EXPECT_EQ(share(150), 0);
}

// A packet each 20 ms: three are a quarter of what the watch looks at, or more.
TEST_F(ArrivalHistoryTest, ThreeLossesMayBeChance) {
  const auto feed = [this](int packets, int32_t lost) {
    for (int i = 0; i < packets; ++i) {
      now_ += TimeDelta::Millis(20);
      arrivals_.OnArrival(ArrivalOf(now_, 0, TimeDelta::Zero(), i == 0 ? lost : 0));
    }
  };
  feed(100, 0);
  feed(2, 3);
  EXPECT_EQ(Look(), QueueSign::kNone);
  feed(1, 1);
  EXPECT_EQ(Look(), QueueSign::kQueue);
}

TEST_F(ArrivalHistoryTest, LossIsASignTooAndMayBeTakenBack) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  Feed(TimeDelta::Millis(300), TimeDelta::Zero(), 1);
  EXPECT_EQ(Look(), QueueSign::kQueue);
  // Packets that were only late.
  Feed(TimeDelta::Millis(300), TimeDelta::Zero(), -1);
  EXPECT_EQ(Look(), QueueSign::kNone);
}

// Packets of 1,200 bytes wait 50 ms. Every second one, or none, is apart from the one before by twice the time; 4 %, or
// none, are lost.
TEST_F(ArrivalHistoryTest, AQueueThatIsSharedIsOneToYieldOnlyOnAPathWithLoss) {
  for (const bool shared : {false, true}) {
    for (const bool loses : {false, true}) {
      ArrivalHistory arrivals;
      Timestamp now = Timestamp::Seconds(100);
      arrivals.Start(now);
      for (int i = 0; i < 3000; ++i) {
        now += TimeDelta::Micros(shared && i % 2 == 0 ? 9600 : 4800);
        arrivals.OnArrival(ArrivalOf(now, 1200, TimeDelta::Millis(i < 100 ? 0 : 50), loses && i % 25 == 0 ? 1 : 0));
      }
      arrivals.OnDecision(now);
      EXPECT_EQ(arrivals.HasQueueToYield(), shared && loses) << shared << loses;
    }
  }
}

TEST_F(ArrivalHistoryTest, AShortQueueCountsForFifteenSecondsAfterItsLossesAreForgotten) {
  int packets = 0;
  // A queue of three packets: each 30th packet after the longest delay is lost.
  const auto feed = [&](TimeDelta duration, bool loses) {
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += kStep;
      const int place = packets++ % 30;
      arrivals_.OnArrival(ArrivalOf(now_, kBytes, TimeDelta::Millis(1 + place % 3), loses && place == 3 ? 1 : 0));
    }
    arrivals_.OnDecision(now_);
  };
  feed(TimeDelta::Seconds(11), false);
  EXPECT_FALSE(arrivals_.HasQueueToYield());
  feed(TimeDelta::Seconds(8), true);
  EXPECT_TRUE(arrivals_.HasQueueToYield());
  feed(TimeDelta::Seconds(18), false);
  EXPECT_TRUE(arrivals_.HasQueueToYield());
  feed(TimeDelta::Seconds(8), false);
  EXPECT_FALSE(arrivals_.HasQueueToYield());
}

Arrival At(int64_t ms, int32_t lost_change = 0, TimeDelta queueing_delay = TimeDelta::Zero()) {
  Arrival arrival = ArrivalOf(Timestamp::Millis(ms), 1000, queueing_delay, lost_change);
  arrival.has_delay = queueing_delay > TimeDelta::Zero();
  return arrival;
}

TEST(LastSecondTest, TheLastSecondIsTheLast) {
  ArrivalHistory arrivals;
  EXPECT_TRUE(arrivals.LastSecondBefore(Timestamp::Millis(0)).receive_rate.IsZero());
  // 1000 bytes every 10 ms are 800 kbps; across 0, where slots are counted below it.
  for (int64_t ms = -2000; ms < 2000; ms += 10) {
    arrivals.OnArrival(At(ms));
    if (ms < -1000) continue;
    const double rate_bps =
        static_cast<double>(arrivals.LastSecondBefore(Timestamp::Millis(ms + 10)).receive_rate.bps());
    EXPECT_NEAR(rate_bps, 800'000, 10'000) << ms;
  }
  EXPECT_EQ(arrivals.totals().packets, 400);
  EXPECT_NEAR(static_cast<double>(arrivals.LastSecondBefore(Timestamp::Millis(2500)).receive_rate.bps()), 400'000,
              45'000);
  EXPECT_TRUE(arrivals.LastSecondBefore(Timestamp::Millis(3000)).receive_rate.IsZero());
}

TEST(LastSecondTest, AClockThatIsSetBackBeginsAnew) {
  ArrivalHistory arrivals;
  for (int64_t ms = 100'000; ms < 101'000; ms += 10) arrivals.OnArrival(At(ms));
  for (int64_t ms = 0; ms < 500; ms += 10) arrivals.OnArrival(At(ms));
  EXPECT_NEAR(static_cast<double>(arrivals.LastSecondBefore(Timestamp::Millis(500)).receive_rate.bps()), 400'000,
              45'000);
}

TEST(LastSecondTest, LossAndDelay) {
  ArrivalHistory arrivals;
  arrivals.OnArrival(At(0, 3, TimeDelta::Millis(10)));
  arrivals.OnArrival(At(1, 0, TimeDelta::Millis(20)));
  arrivals.OnArrival(At(2));
  LastSecond last = arrivals.LastSecondBefore(Timestamp::Millis(2));
  EXPECT_DOUBLE_EQ(last.loss_ratio, 0.5);
  EXPECT_EQ(last.queueing_delay, TimeDelta::Millis(15));
  EXPECT_EQ(arrivals.totals().packets_with_delay, 2);
  EXPECT_EQ(arrivals.totals().queueing_delay, TimeDelta::Millis(30));
  // Those that were believed lost come late, a second after.
  for (int i = 0; i < 3; ++i) arrivals.OnArrival(At(1500, -1));
  last = arrivals.LastSecondBefore(Timestamp::Millis(1500));
  EXPECT_EQ(last.loss_ratio, 0);
  EXPECT_EQ(arrivals.totals().packets_lost, 0);
}

}  // namespace
}  // namespace weir
