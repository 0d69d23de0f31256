#include "weir/starvation_floor.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace weir {
namespace {

constexpr TimeDelta kStep = TimeDelta::Millis(10);
constexpr uint32_t kBytes = 1250;  // with one packet a step: 1 Mbps
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

class StarvationFloorTest : public testing::Test {
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
      floor_.OnArrival(arrival);
    }
  }
  void Feed(TimeDelta duration, TimeDelta delay, int32_t lost = 0) {
    Feed(duration, [delay] { return delay; }, lost);
  }
  DataRate Floor(DataRate rate, TimeDelta elapsed = TimeDelta::Millis(100)) {
    return floor_.Floor(rate, elapsed, now_);
  }

  Timestamp now_ = Timestamp::Seconds(5);
  StarvationFloor floor_;
};

TEST_F(StarvationFloorTest, NoPacketsNoFloor) {
  EXPECT_EQ(Floor(Kbps(1000)), DataRate::Zero());
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  EXPECT_GT(Floor(Kbps(1000)), DataRate::Zero());
  now_ += TimeDelta::Millis(60);
  EXPECT_EQ(Floor(Kbps(1000)), DataRate::Zero());
}

TEST_F(StarvationFloorTest, WithoutAQueueTheRateSinksSlowly) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Millis(1));
  EXPECT_NEAR(static_cast<double>(Floor(Kbps(800)).bps()), 776e3, 1);
  EXPECT_NEAR(static_cast<double>(Floor(Kbps(800), TimeDelta::Millis(200)).bps()), 800e3 * 0.97 * 0.97, 1);
  EXPECT_EQ(Floor(Kbps(800), TimeDelta::Zero()), Kbps(800));
}

TEST_F(StarvationFloorTest, IsNoHigherThanWhatThePathCarriedInTenSeconds) {
  Feed(TimeDelta::Seconds(3), TimeDelta::Zero());
  EXPECT_NEAR(static_cast<double>(Floor(Kbps(5000)).bps()), 1e6, 2e4);
  now_ += TimeDelta::Seconds(11);
  Feed(TimeDelta::Millis(500), TimeDelta::Zero());
  EXPECT_EQ(Floor(Kbps(5000)), DataRate::Zero());
}

TEST_F(StarvationFloorTest, AQueueLiftsItWithinTwoTicks) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  Feed(TimeDelta::Millis(60), TimeDelta::Millis(8));
  EXPECT_EQ(Floor(Kbps(800)), DataRate::Zero());
  Feed(TimeDelta::Millis(60), TimeDelta::Millis(1));
  EXPECT_GT(Floor(Kbps(800)), DataRate::Zero());
}

TEST_F(StarvationFloorTest, AQueueThatGrowsEvenlyIsNotTakenForJitter) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  TimeDelta delay = TimeDelta::Zero();
  Feed(TimeDelta::Seconds(3), [&delay] { return delay += TimeDelta::Micros(200); });
  EXPECT_EQ(Floor(Kbps(800)), DataRate::Zero());
}

TEST_F(StarvationFloorTest, JitterIsNoQueue) {
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int64_t> delay_ms(0, 80);
  int held = 0;
  for (int i = 0; i < 300; ++i) {
    Feed(TimeDelta::Millis(100), [&] { return TimeDelta::Millis(delay_ms(random)); });
    if (i >= 30) held += Floor(Kbps(800)) > DataRate::Zero();
  }
  EXPECT_GT(held, 150);
  // On the same path behind a queue there is a floor now and then, by chance.
  held = 0;
  for (int i = 0; i < 300; ++i) {
    Feed(TimeDelta::Millis(100), [&] { return TimeDelta::Millis(150 + delay_ms(random)); });
    if (i >= 30) held += Floor(Kbps(800)) > DataRate::Zero();
  }
  EXPECT_EQ(held, 0);
}

TEST_F(StarvationFloorTest, LossWithoutAQueueLiftsItToo) {
  Feed(TimeDelta::Seconds(2), TimeDelta::Zero());
  Feed(TimeDelta::Millis(300), TimeDelta::Zero(), 1);
  EXPECT_EQ(Floor(Kbps(800)), DataRate::Zero());
  // A packet that was only late takes its loss back.
  Feed(TimeDelta::Millis(300), TimeDelta::Zero(), -1);
  EXPECT_GT(Floor(Kbps(800)), DataRate::Zero());
}

}  // namespace
}  // namespace weir
