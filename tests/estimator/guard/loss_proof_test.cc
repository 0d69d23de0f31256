#include "guard/loss_proof.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "watched_path.h"

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

// The proof as the rule `overload` provides it, over a path whose loss is a function of the rate. A packet each 10 ms.
class LossProofTest : public testing::Test {
 protected:
  // Whole seconds at `wanted`, or below it if the rule limits it. Returns whether losses are proven in the end.
  template <class LossOfRate>
  bool Seconds(int count, DataRate wanted, LossOfRate loss_of, TimeDelta delay = TimeDelta::Zero()) {
    for (int i = 0; i < 10 * count; ++i) {
      path_.rate = std::min(wanted, limit_);
      lowest_ = std::min(lowest_, path_.rate);
      path_.Pass(path_.rate, loss_of(path_.rate), delay);
      GuardFacts facts = path_.Facts();
      limit_ = rule_->Apply(DataRate::PlusInfinity(), facts);
      proven_ = facts.losses_are_proven;
    }
    return proven_;
  }

  static double Random(DataRate) { return 0.12; }
  // 8 % at random, and all above 1.2 Mbps.
  static double OfPolicer(DataRate rate) { return 1 - 0.92 * std::min(1.0, Kbps(1200) / rate); }

  WatchedPath path_;
  std::unique_ptr<GuardRule> rule_ = MakeRule("overload");
  DataRate limit_ = DataRate::PlusInfinity();
  DataRate lowest_ = DataRate::PlusInfinity();
  bool proven_ = false;
};

TEST_F(LossProofTest, NothingIsProvenBeforeABackOff) {
  EXPECT_FALSE(Seconds(4, Kbps(1000), Random));
  EXPECT_EQ(lowest_, Kbps(1000));
}

TEST_F(LossProofTest, ABackOffAfterFourSecondsProvesLossThatItDoesNotLower) {
  EXPECT_TRUE(Seconds(8, Kbps(1000), Random));
  EXPECT_LT(lowest_, Kbps(700));
}

TEST_F(LossProofTest, LossThatFallsWithTheRateIsNotProven) {
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(Seconds(1, Kbps(1800), OfPolicer)) << i;
  EXPECT_LT(lowest_, Kbps(1000)) << "a back-off";
}

TEST_F(LossProofTest, MoreLossThanProvenEndsTheProof) {
  EXPECT_TRUE(Seconds(20, Kbps(1000), OfPolicer)) << "below the policer's rate";
  EXPECT_FALSE(Seconds(10, Kbps(1600), OfPolicer));
}

TEST_F(LossProofTest, LossThatRoseForGoodIsProvenAgain) {
  EXPECT_TRUE(Seconds(20, Kbps(1000), [](DataRate) { return 0.08; }));
  EXPECT_FALSE(Seconds(5, Kbps(1000), [](DataRate) { return 0.18; }));
  EXPECT_TRUE(Seconds(90, Kbps(1000), [](DataRate) { return 0.18; }));
}

TEST_F(LossProofTest, HoldsAtUpToThreeTimesTheProvenRate) {
  EXPECT_TRUE(Seconds(10, Kbps(500), Random));
  EXPECT_TRUE(Seconds(2, Kbps(1400), Random));
  EXPECT_FALSE(Seconds(2, Kbps(1900), Random));
  EXPECT_TRUE(Seconds(12, Kbps(1400), Random));
  EXPECT_TRUE(Seconds(2, Kbps(1900), Random)) << "ten seconds at 1.4 Mbps lost no more";
}

TEST_F(LossProofTest, IsNotWantedAtTheSender) {
  path_.reported = true;
  EXPECT_FALSE(Seconds(8, Kbps(1000), Random));
  EXPECT_EQ(lowest_, Kbps(1000));
}

TEST_F(LossProofTest, IsNotWantedForLittleLoss) {
  EXPECT_FALSE(Seconds(9, Kbps(1000), [](DataRate) { return 0.06; }));
  EXPECT_EQ(lowest_, Kbps(1000));
}

TEST_F(LossProofTest, IsNotWantedIfOmissionWouldCostMoreThanATwentiethOfTheReceivedBytes) {
  // 100 packets/s of 200 bytes, less what is lost: 818 of 17,600 bytes a second, and 1,500 of 16,000.
  EXPECT_TRUE(Seconds(9, Kbps(160), [](DataRate) { return 0.12; }));
  rule_ = MakeRule("overload");
  limit_ = lowest_ = DataRate::PlusInfinity();
  EXPECT_FALSE(Seconds(9, Kbps(160), [](DataRate) { return 0.2; }));
  EXPECT_EQ(lowest_, Kbps(160));
}

TEST_F(LossProofTest, LossesAfterLongDelaysEndItForFifteenSeconds) {
  EXPECT_TRUE(Seconds(20, Kbps(1000), Random));
  // Every tenth packet waits for 3 ms, and the next one is lost.
  const auto short_queue = [this](int tenths) {
    for (int i = 0; i < 10 * tenths; ++i) {
      path_.now += TimeDelta::Millis(10);
      path_.arrivals.OnArrival(ArrivalOf(path_.now, 1100, TimeDelta::Millis(i % 10 == 9 ? 3 : 0), i % 10 == 0 ? 1 : 0));
      path_.arrivals.OnDecision(path_.now);
    }
    GuardFacts facts = path_.Facts();
    rule_->Apply(DataRate::PlusInfinity(), facts);
    return facts.losses_are_proven;
  };
  EXPECT_FALSE(short_queue(20));
  EXPECT_FALSE(Seconds(10, Kbps(1000), Random));
  EXPECT_TRUE(Seconds(30, Kbps(1000), Random));
}

}  // namespace
}  // namespace weir
