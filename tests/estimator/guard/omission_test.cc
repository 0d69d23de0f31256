#include <gtest/gtest.h>

#include <memory>

#include "watched_path.h"

namespace weir {
namespace {

class OmissionRuleTest : public testing::Test {
 protected:
  // The last answer of so many tenths of a second.
  bool Omits(int tenths, double loss_ratio, TimeDelta delay = TimeDelta::Zero()) {
    bool omits = false;
    for (int i = 0; i < tenths; ++i) {
      path_.Pass(rate_, loss_ratio, delay);
      GuardFacts facts{
          .arrivals = path_.arrivals, .reported = path_.reported, .now = path_.now, .losses_are_proven = proven_};
      EXPECT_TRUE(rule_->Apply(DataRate::PlusInfinity(), facts).IsPlusInfinity());
      omits = facts.omits_losses;
    }
    return omits;
  }

  WatchedPath path_;
  DataRate rate_ = DataRate::KilobitsPerSecond(1000);
  bool proven_ = true;
  std::unique_ptr<GuardRule> rule_ = MakeRule("omission");
};

TEST_F(OmissionRuleTest, ReportsLossThatIsNotProven) {
  EXPECT_TRUE(Omits(20, 0.1));
  proven_ = false;
  EXPECT_FALSE(Omits(1, 0.1));
}

TEST_F(OmissionRuleTest, OmitsWhatIsLostAtAnyRate) {
  EXPECT_TRUE(Omits(100, 0.1));
  EXPECT_FALSE(Omits(11, 0)) << "a second without loss";
  EXPECT_FALSE(Omits(80, 0.1));
  EXPECT_TRUE(Omits(30, 0.1)) << "ten seconds later";
}

TEST_F(OmissionRuleTest, ReportsLittleLoss) {
  EXPECT_FALSE(Omits(50, 0.06));
  EXPECT_TRUE(Omits(120, 0.08));
}

TEST_F(OmissionRuleTest, PresumesInTheFirstSecondThatTheRateIsNotTheCause) {
  proven_ = false;
  EXPECT_TRUE(Omits(5, 0.1));
  EXPECT_FALSE(Omits(1, 0.1, TimeDelta::Millis(40))) << "a queue";
}

TEST_F(OmissionRuleTest, ReportsWhileThereIsAQueueAndASecondLonger) {
  EXPECT_TRUE(Omits(100, 0.1));
  EXPECT_FALSE(Omits(1, 0.1, TimeDelta::Millis(40)));
  EXPECT_FALSE(Omits(9, 0.1));
  EXPECT_TRUE(Omits(2, 0.1));
}

TEST_F(OmissionRuleTest, ReportsWhileARuleHoldsARateThatEndedLosses) {
  EXPECT_TRUE(Omits(100, 0.1));
  GuardFacts facts{.arrivals = path_.arrivals, .now = path_.now, .rate_causes_losses = true, .losses_are_proven = true};
  rule_->Apply(DataRate::PlusInfinity(), facts);
  EXPECT_FALSE(facts.omits_losses);
}

TEST_F(OmissionRuleTest, ReportsWhatWouldCostMoreThanATwentiethOfWhatArrives) {
  rate_ = DataRate::KilobitsPerSecond(160);  // 100 packets/s of 200 bytes, less what is lost
  EXPECT_TRUE(Omits(120, 0.12)) << "818 of 17,600 bytes a second";
  EXPECT_FALSE(Omits(120, 0.2)) << "1,500 of 16,000";
}

TEST_F(OmissionRuleTest, DoesNothingAtTheSender) {
  path_.reported = true;
  EXPECT_FALSE(Omits(20, 0.1));
}

TEST_F(OmissionRuleTest, ReportsWhenNothingShowsThatThereIsNoQueue) {
  EXPECT_TRUE(Omits(20, 0.1));
  path_.now += TimeDelta::Millis(100);
  path_.arrivals.OnDecision(path_.now);
  GuardFacts facts{.arrivals = path_.arrivals, .now = path_.now, .losses_are_proven = true};
  rule_->Apply(DataRate::PlusInfinity(), facts);
  EXPECT_FALSE(facts.omits_losses);
}

}  // namespace
}  // namespace weir
