#include "weir/guard/policer_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "guard/watched_path.h"

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

class PolicerRuleTest : public testing::Test {
 protected:
  // Seconds in which `sent` meets a policer of `passed`; the last answer.
  DataRate Send(int seconds, DataRate sent, DataRate passed, TimeDelta delay = TimeDelta::Zero()) {
    const double loss_ratio = std::max(0.0, 1 - passed / sent);
    return Lose(seconds, sent, loss_ratio, delay);
  }
  DataRate Lose(int seconds, DataRate sent, double loss_ratio, TimeDelta delay = TimeDelta::Zero()) {
    DataRate limit = DataRate::PlusInfinity();
    for (int i = 0; i < 10 * seconds; ++i) {
      path_.Pass(sent, loss_ratio, delay);
      limit = rule_.Limit(path_.watch);
    }
    return limit;
  }

  WatchedPath path_;
  PolicerRule rule_;
};

TEST_F(PolicerRuleTest, IsSuspectedTheThirdTimeAndHoldsTheRateBelowIt) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Send(4, Kbps(900), Kbps(1000)).IsPlusInfinity()) << i;
    Send(1, Kbps(1300), Kbps(1000));
  }
  const DataRate limit = Send(1, Kbps(900), Kbps(1000));
  EXPECT_NEAR(static_cast<double>(limit.bps()), 0.95e6, 0.05e6);
}

TEST_F(PolicerRuleTest, ProbesUpwardsAndForgetsWhereNothingIsLost) {
  for (int i = 0; i < 4; ++i) {
    Send(4, Kbps(900), Kbps(1000));
    Send(2, Kbps(1300), Kbps(1000));
  }
  const DataRate first = Send(3, Kbps(900), Kbps(1000));
  const DataRate later = Send(10, Kbps(900), Kbps(1000));
  EXPECT_NEAR(later / first, 1.105, 0.02);
  EXPECT_TRUE(Send(40, Kbps(900), Kbps(1000)).IsPlusInfinity());
}

TEST_F(PolicerRuleTest, ForgetsAtOnceWherePathsCarryMore) {
  for (int i = 0; i < 4; ++i) {
    Send(4, Kbps(900), Kbps(1000));
    Send(2, Kbps(1300), Kbps(1000));
  }
  EXPECT_FALSE(Send(3, Kbps(900), Kbps(1000)).IsPlusInfinity());
  EXPECT_TRUE(Send(2, Kbps(1100), Kbps(2000)).IsPlusInfinity());
}

TEST_F(PolicerRuleTest, LossByChanceIsNone) {
  EXPECT_TRUE(Lose(60, Kbps(1000), 0.1).IsPlusInfinity());
  // Nor when it comes in bursts, at one rate all the time.
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(Lose(5, Kbps(1000), 0).IsPlusInfinity());
    EXPECT_TRUE(Lose(1, Kbps(1000), 0.08).IsPlusInfinity());
  }
}

// At 5 packets a second, say of a still picture, each loss by chance is a large share of its second.
TEST_F(PolicerRuleTest, LossByChanceOfFewPacketsIsNone) {
  std::minstd_rand random(1);
  int32_t lost = 0;
  for (int i = 0; i < 1500; ++i) {
    path_.now += TimeDelta::Millis(200);
    if (random() % 10 == 0) {
      ++lost;
    } else {
      Arrival arrival;
      arrival.packet.arrival_time = path_.now;
      arrival.packet.payload_size = 1200;
      arrival.lost_change = std::exchange(lost, 0);
      path_.watch.OnArrival(arrival);
    }
    path_.watch.Look(path_.now);
    ASSERT_TRUE(rule_.Limit(path_.watch).IsPlusInfinity()) << i;
  }
}

TEST_F(PolicerRuleTest, AQueueThatOverflowsIsNone) {
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(Send(4, Kbps(900), Kbps(1000)).IsPlusInfinity());
    EXPECT_TRUE(Send(2, Kbps(1300), Kbps(1000), TimeDelta::Millis(100)).IsPlusInfinity());
  }
}

TEST_F(PolicerRuleTest, LossAtEverOtherRatesIsNone) {
  for (const int64_t passed : {1000, 1500, 800, 2000, 1200}) {
    Send(4, Kbps(passed * 9 / 10), Kbps(passed));
    EXPECT_TRUE(Send(1, Kbps(passed * 13 / 10), Kbps(passed)).IsPlusInfinity());
  }
}

}  // namespace
}  // namespace weir
