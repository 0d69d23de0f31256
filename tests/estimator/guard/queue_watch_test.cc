#include "weir/guard/queue_watch.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace weir {
namespace {

constexpr TimeDelta kStep = TimeDelta::Millis(10);
constexpr uint32_t kBytes = 1250;  // with one packet a step: 1 Mbps

class QueueWatchTest : public testing::Test {
 protected:
  // A packet each 10 ms with the delay that the function gives, and that many lost before it.
  void Feed(TimeDelta duration, const std::function<TimeDelta()>& delay, int32_t lost = 0) {
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += kStep;
      Arrival arrival;
      arrival.packet.arrival_time = now_;
      arrival.packet.payload_size = kBytes;
      arrival.lost_change = lost;
      arrival.has_delay = true;
      arrival.queueing_delay = delay();
      watch_.OnArrival(arrival);
    }
  }
  void Feed(TimeDelta duration, TimeDelta delay, int32_t lost = 0) {
    Feed(duration, [delay] { return delay; }, lost);
  }
  QueueSign Look() { return watch_.Look(now_); }

  Timestamp now_ = Timestamp::Seconds(5);
  QueueWatch watch_;
};

TEST_F(QueueWatchTest, KnowsNothingWithoutPackets) {
  EXPECT_EQ(Look(), QueueSign::kUnknown);
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  EXPECT_EQ(Look(), QueueSign::kNone);
  now_ += TimeDelta::Millis(60);
  EXPECT_EQ(Look(), QueueSign::kUnknown);
}

TEST_F(QueueWatchTest, RemembersWhatThePathCarriedForTenSeconds) {
  EXPECT_EQ(watch_.HighestReceiveRate(), DataRate::Zero());
  Feed(TimeDelta::Seconds(3), TimeDelta::Zero());
  EXPECT_NEAR(static_cast<double>(watch_.HighestReceiveRate().bps()), 1e6, 2e4);
  now_ += TimeDelta::Seconds(9);
  Look();
  EXPECT_NEAR(static_cast<double>(watch_.HighestReceiveRate().bps()), 1e6, 2e4);
  now_ += TimeDelta::Seconds(2);
  Look();
  EXPECT_EQ(watch_.HighestReceiveRate(), DataRate::Zero());
}

TEST_F(QueueWatchTest, SeesAQueueComeAndGoWithinTwoTicks) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Millis(1));
  EXPECT_EQ(Look(), QueueSign::kNone);
  Feed(TimeDelta::Millis(60), TimeDelta::Millis(8));
  EXPECT_EQ(Look(), QueueSign::kQueue);
  Feed(TimeDelta::Millis(60), TimeDelta::Millis(1));
  EXPECT_EQ(Look(), QueueSign::kNone);
}

TEST_F(QueueWatchTest, AQueueThatGrowsEvenlyIsNotTakenForJitter) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  TimeDelta delay = TimeDelta::Zero();
  Feed(TimeDelta::Seconds(3), [&delay] { return delay += TimeDelta::Micros(200); });
  EXPECT_EQ(Look(), QueueSign::kQueue);
}

TEST_F(QueueWatchTest, JitterIsNoQueue) {
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
TEST_F(QueueWatchTest, ThreeLossesMayBeChance) {
  const auto feed = [this](int packets, int32_t lost) {
    for (int i = 0; i < packets; ++i) {
      now_ += TimeDelta::Millis(20);
      Arrival arrival;
      arrival.packet.arrival_time = now_;
      arrival.lost_change = i == 0 ? lost : 0;
      arrival.has_delay = true;
      watch_.OnArrival(arrival);
    }
  };
  feed(100, 0);
  feed(2, 3);
  EXPECT_EQ(Look(), QueueSign::kNone);
  feed(1, 1);
  EXPECT_EQ(Look(), QueueSign::kQueue);
}

TEST_F(QueueWatchTest, LossIsASignTooAndMayBeTakenBack) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  Feed(TimeDelta::Millis(300), TimeDelta::Zero(), 1);
  EXPECT_EQ(Look(), QueueSign::kQueue);
  // Packets that were only late.
  Feed(TimeDelta::Millis(300), TimeDelta::Zero(), -1);
  EXPECT_EQ(Look(), QueueSign::kNone);
}

}  // namespace
}  // namespace weir
