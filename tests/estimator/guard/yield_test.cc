#include <gtest/gtest.h>

#include <memory>

#include "watched_path.h"

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

// Packets of 10 ms, whose delay rises by 1 ms each until it is 9 ms.
class YieldRuleTest : public testing::Test {
 protected:
  YieldRuleTest() { path_.reported = true; }

  // Each 200 ms, 4 packets are lost: those after the longest delay, or after a delay that has nothing to do with it.
  DataRate Lose(int seconds, DataRate rate, bool after_delay = true) {
    DataRate limit = DataRate::PlusInfinity();
    for (int i = 0; i < 10 * seconds; ++i) limit = Pass(rate, i % 2 == 0 ? 4 : 0, after_delay ? 0 : 5);
    return limit;
  }
  DataRate Pass(int seconds, DataRate rate) {
    DataRate limit = DataRate::PlusInfinity();
    for (int i = 0; i < 10 * seconds; ++i) limit = Pass(rate, 0, 0);
    return limit;
  }

  WatchedPath path_;

 private:
  // 100 ms, with the losses before its packet `next`.
  DataRate Pass(DataRate rate, int lost, int next) {
    for (int i = 0; i < 10; ++i) {
      path_.now += TimeDelta::Millis(10);
      const auto bytes = static_cast<uint32_t>((rate * TimeDelta::Millis(10)).bytes());
      path_.arrivals.OnArrival(ArrivalOf(path_.now, bytes, TimeDelta::Millis(i), i == next ? lost : 0));
    }
    path_.arrivals.OnDecision(path_.now);
    return path_.Limit(*rule_);
  }

  std::unique_ptr<GuardRule> rule_ = MakeRule("yield");
};

TEST_F(YieldRuleTest, FallsEachSecondThatAShortQueueDropsPackets) {
  Pass(2, Kbps(4000));
  Lose(2, Kbps(4000));
  const DataRate first = Lose(1, Kbps(4000)), second = Lose(1, Kbps(4000));
  EXPECT_LT(first, Kbps(3900));
  EXPECT_NEAR(second / first, 0.95, 0.001);
}

TEST_F(YieldRuleTest, KeepsSeventyPercentOfTheHighestRate) {
  EXPECT_NEAR(Lose(30, Kbps(4000)) / Kbps(4000), 0.7, 0.01);
  EXPECT_NEAR(Lose(100, Kbps(2000)) / Kbps(2000), 0.7, 0.02);
}

TEST_F(YieldRuleTest, RisesByTwentyPercentEachSecondWithoutLossAndEnds) {
  Lose(30, Kbps(4000));
  Pass(1, Kbps(2000));
  const DataRate limit = Pass(1, Kbps(2000));
  EXPECT_NEAR(Pass(1, Kbps(2000)) / limit, 1.2, 0.001);
  EXPECT_TRUE(Pass(3, Kbps(2000)).IsPlusInfinity());
}

TEST_F(YieldRuleTest, DoesNotActOnLossesThatFollowNoDelay) {
  EXPECT_TRUE(Lose(20, Kbps(4000), false).IsPlusInfinity());
}

TEST_F(YieldRuleTest, DoesNotActAtTheReceiver) {
  path_.reported = false;
  EXPECT_TRUE(Lose(20, Kbps(4000)).IsPlusInfinity());
}

}  // namespace
}  // namespace weir
