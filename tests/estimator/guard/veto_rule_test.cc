#include "weir/guard/veto_rule.h"

#include <gtest/gtest.h>

#include "guard/watched_path.h"

namespace weir {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(2000);

class VetoRuleTest : public testing::Test {
 protected:
  // The last answer of `seconds` of the same.
  DataRate Pass(double seconds, double loss_ratio, TimeDelta delay) {
    DataRate limit = DataRate::PlusInfinity();
    for (int i = 0; i < 10 * seconds; ++i) {
      path_.Pass(kRate, loss_ratio, delay);
      limit = rule_.Limit(facts_, path_.watch, path_.received);
    }
    return limit;
  }

  WatchedPath path_;
  GuardFacts facts_;
  VetoRule rule_;
};

TEST_F(VetoRuleTest, IsSilentOnACalmPath) {
  EXPECT_TRUE(Pass(5, 0, TimeDelta::Zero()).IsPlusInfinity());
  EXPECT_TRUE(Pass(5, 0, TimeDelta::Millis(50)).IsPlusInfinity());
}

TEST_F(VetoRuleTest, WhileAQueueStaysLessThanWhatArrivesAndNoLonger) {
  Pass(5, 0, TimeDelta::Zero());
  const DataRate limit = Pass(1, 0, TimeDelta::Millis(100));
  EXPECT_NEAR(static_cast<double>(limit.bps()), 0.95 * 2e6, 2e4);
  EXPECT_TRUE(Pass(0.1, 0, TimeDelta::Zero()).IsPlusInfinity());
}

TEST_F(VetoRuleTest, YieldsToNobodyWhoDoesNotYield) {
  Pass(5, 0, TimeDelta::Zero());
  facts_.delay_stands = true;
  EXPECT_TRUE(Pass(1, 0, TimeDelta::Millis(100)).IsPlusInfinity());
}

TEST_F(VetoRuleTest, LossThatBeginsForTwoSecondsIsAReasonAndLossThatIsAlwaysThereIsNone) {
  EXPECT_TRUE(Pass(8, 0.4, TimeDelta::Zero()).IsPlusInfinity());
  path_ = WatchedPath();
  rule_ = VetoRule();
  Pass(5, 0, TimeDelta::Zero());
  EXPECT_TRUE(Pass(1.5, 0.4, TimeDelta::Zero()).IsPlusInfinity());
  const DataRate limit = Pass(1.5, 0.4, TimeDelta::Zero());
  EXPECT_NEAR(static_cast<double>(limit.bps()), 0.95 * 1.2e6, 3e4);
}

TEST_F(VetoRuleTest, LossOfFewPacketsIsChance) {
  Pass(5, 0, TimeDelta::Zero());
  for (int i = 0; i < 40; ++i) {
    path_.now += TimeDelta::Millis(250);
    Arrival arrival;
    arrival.packet.arrival_time = path_.now;
    arrival.lost_change = i % 2;
    path_.watch.OnArrival(arrival);
    EXPECT_TRUE(rule_.Limit(facts_, path_.watch, path_.received).IsPlusInfinity()) << i;
  }
}

TEST_F(VetoRuleTest, SilenceIsNoQueue) {
  Pass(5, 0, TimeDelta::Millis(100));
  path_.now += TimeDelta::Millis(200);
  path_.watch.Look(path_.now);
  EXPECT_TRUE(rule_.Limit(facts_, path_.watch, path_.received).IsPlusInfinity());
}

}  // namespace
}  // namespace weir
