#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "watched_path.h"

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

// One rule of the guard, and the path that it limits.
class RuleTest : public testing::Test {
 protected:
  explicit RuleTest(std::string_view name) : rule_(MakeRule(name)) {}

  // Seconds in which the sender sends at `sent`; the last limit.
  DataRate Send(double seconds, DataRate sent, double loss_ratio = 0, TimeDelta delay = TimeDelta::Zero()) {
    DataRate limit = DataRate::PlusInfinity();
    for (int i = 0; i < 10 * seconds; ++i) {
      path_.Pass(sent, loss_ratio, delay, delay_stands_);
      limit = path_.Limit(*rule_);
    }
    return limit;
  }
  // The facts after the rule has added its own.
  GuardFacts Facts() {
    GuardFacts facts = path_.Facts();
    rule_->Apply(DataRate::PlusInfinity(), facts);
    return facts;
  }

  WatchedPath path_;
  bool delay_stands_ = false;
  std::unique_ptr<GuardRule> rule_;
};

class EcnRuleTest : public RuleTest {
 protected:
  EcnRuleTest() : RuleTest("ecn") { path_.rate = Kbps(4000); }

  // The limit on a sender that obeys and has a share of its packets marked.
  DataRate Pass(double seconds, double marked, TimeDelta delay = TimeDelta::Zero()) {
    for (int i = 0; i < 10 * seconds; ++i) {
      path_.PassMarked(path_.rate, marked, delay);
      limit_ = path_.Limit(*rule_);
      path_.rate = std::min(path_.rate, limit_);
    }
    return limit_;
  }

  DataRate limit_ = DataRate::PlusInfinity();
};

TEST_F(EcnRuleTest, IsSilentWithoutMarks) { EXPECT_TRUE(Pass(10, 0).IsPlusInfinity()); }

TEST_F(EcnRuleTest, FallsByHalfOfTheMarkedShareFiveTimesASecond) {
  Pass(5, 0.2);
  const DataRate limit = limit_;
  EXPECT_NEAR(Pass(1, 0.2) / limit, std::pow(0.9, 5), 0.05);
}

TEST_F(EcnRuleTest, RisesByTheSameAtEachRateAndEndsTwoSecondsAfterTheLastMark) {
  path_.rate = Kbps(20'000);
  const DataRate limit = Pass(0.5, 0.2);
  const DataRate risen = Pass(0.5, 0);
  EXPECT_NEAR(static_cast<double>((risen - limit).bps()), 10 * 0.4 * 1200 * 8 / 0.05, 2e4);
  EXPECT_TRUE(Pass(1.5, 0).IsPlusInfinity());
}

TEST_F(EcnRuleTest, WhatArrivesIsTheMostWhereHalfIsMarked) {
  Pass(1, 0);
  // The first fall is by what came before as well, and the second 200 ms later.
  DataRate limit = DataRate::PlusInfinity();
  for (int i = 0; i < 12; ++i) {
    path_.PassMarked(Kbps(1500), 1, TimeDelta::Millis(20));
    limit = path_.Limit(*rule_);
  }
  EXPECT_LE(limit, Kbps(1500) * 0.98);
}

TEST_F(EcnRuleTest, APathThatMarksEverythingStarvesNobody) {
  DataRate lowest = DataRate::PlusInfinity();
  for (int i = 0; i < 50 && !Pass(0.1, 1).IsPlusInfinity(); ++i) lowest = std::min(lowest, limit_);
  EXPECT_TRUE(limit_.IsPlusInfinity());
  EXPECT_GT(lowest, Kbps(500));
  path_.rate = Kbps(4000);
  EXPECT_TRUE(Pass(50, 1).IsPlusInfinity());
}

TEST_F(EcnRuleTest, AFullQueueIsNoSuchPath) {
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(Pass(0.1, 1, TimeDelta::Millis(30)).IsFinite());
}

class VetoRuleTest : public RuleTest {
 protected:
  VetoRuleTest() : RuleTest("veto") {}

  DataRate Pass(double seconds, double loss_ratio, TimeDelta delay) {
    return Send(seconds, Kbps(2000), loss_ratio, delay);
  }
};

TEST_F(VetoRuleTest, IsSilentOnACalmPath) {
  EXPECT_TRUE(Pass(5, 0, TimeDelta::Zero()).IsPlusInfinity());
  EXPECT_TRUE(Pass(5, 0, TimeDelta::Millis(50)).IsPlusInfinity());
}

TEST_F(VetoRuleTest, WhileAQueueStaysLessThanWhatArrivesAndNoLonger) {
  for (const auto& [reported, delay_ms, share] : {std::tuple(true, 200, 0.95), std::tuple(false, 70, 0.825),
                                                  std::tuple(false, 100, 0.75), std::tuple(false, 200, 0.6)}) {
    path_.reported = reported;
    Pass(5, 0, TimeDelta::Zero());
    EXPECT_NEAR(Pass(1, 0, TimeDelta::Millis(delay_ms)) / Kbps(2000), share, 0.01) << delay_ms;
    EXPECT_TRUE(Pass(0.1, 0, TimeDelta::Zero()).IsPlusInfinity());
  }
}

TEST_F(VetoRuleTest, YieldsToNobodyWhoDoesNotYield) {
  Pass(5, 0, TimeDelta::Zero());
  delay_stands_ = true;
  EXPECT_TRUE(Pass(1, 0, TimeDelta::Millis(100)).IsPlusInfinity());
}

TEST_F(VetoRuleTest, LossThatBeginsForTwoSecondsIsAReasonAndLossThatIsAlwaysThereIsNone) {
  EXPECT_TRUE(Pass(8, 0.4, TimeDelta::Zero()).IsPlusInfinity());
  path_ = WatchedPath();
  rule_ = MakeRule("veto");
  Pass(5, 0, TimeDelta::Zero());
  EXPECT_TRUE(Pass(1.5, 0.4, TimeDelta::Zero()).IsPlusInfinity());
  const DataRate limit = Pass(1.5, 0.4, TimeDelta::Zero());
  EXPECT_NEAR(static_cast<double>(limit.bps()), 0.95 * 1.2e6, 3e4);
}

TEST_F(VetoRuleTest, LossOfFewPacketsIsChance) {
  Pass(5, 0, TimeDelta::Zero());
  for (int i = 0; i < 40; ++i) {
    path_.now += TimeDelta::Millis(250);
    path_.arrivals.OnArrival(ArrivalOf(path_.now, 0, TimeDelta::Zero(), i % 2));
    EXPECT_TRUE(path_.Limit(*rule_).IsPlusInfinity()) << i;
  }
}

TEST_F(VetoRuleTest, SilenceIsNoQueue) {
  Pass(5, 0, TimeDelta::Millis(100));
  path_.now += TimeDelta::Millis(200);
  path_.arrivals.OnDecision(path_.now);
  EXPECT_TRUE(path_.Limit(*rule_).IsPlusInfinity());
}

class PolicerRuleTest : public RuleTest {
 protected:
  PolicerRuleTest() : RuleTest("policer") {}

  // Seconds in which `sent` meets a policer of `passed`; the last limit.
  DataRate Police(int seconds, DataRate sent, DataRate passed, TimeDelta delay = TimeDelta::Zero()) {
    return Send(seconds, sent, std::max(0.0, 1 - passed / sent), delay);
  }
  // Meets one of 1 Mbps often enough to suspect it.
  void Suspect() {
    for (int i = 0; i < 4; ++i) {
      Police(4, Kbps(900), Kbps(1000));
      Police(2, Kbps(1300), Kbps(1000));
    }
  }
};

TEST_F(PolicerRuleTest, IsSuspectedTheThirdTimeAndHoldsTheRateBelowIt) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Police(4, Kbps(900), Kbps(1000)).IsPlusInfinity()) << i;
    Police(1, Kbps(1300), Kbps(1000));
  }
  const DataRate limit = Police(1, Kbps(900), Kbps(1000));
  EXPECT_NEAR(static_cast<double>(limit.bps()), 0.95e6, 0.05e6);
}

TEST_F(PolicerRuleTest, ProbesUpwardsAndForgetsWhereNothingIsLost) {
  Suspect();
  const DataRate first = Police(3, Kbps(900), Kbps(1000));
  const DataRate later = Police(10, Kbps(900), Kbps(1000));
  EXPECT_NEAR(later / first, 1.105, 0.02);
  EXPECT_TRUE(Police(40, Kbps(900), Kbps(1000)).IsPlusInfinity());
}

TEST_F(PolicerRuleTest, ForgetsWithinSecondsWherePathsCarryMore) {
  Suspect();
  EXPECT_FALSE(Police(3, Kbps(900), Kbps(1000)).IsPlusInfinity());
  EXPECT_TRUE(Police(4, Kbps(1200), Kbps(2000)).IsPlusInfinity());
}

TEST_F(PolicerRuleTest, APauseAndTheBucketThatItFillsAreNoReasonToForget) {
  Suspect();
  const DataRate before = Police(2, Kbps(50), Kbps(1000));
  EXPECT_FALSE(before.IsPlusInfinity());
  EXPECT_TRUE(Facts().rate_causes_losses);
  EXPECT_EQ(Police(60, Kbps(50), Kbps(1000)), before);
  EXPECT_FALSE(Police(1, Kbps(1400), Kbps(2000)).IsPlusInfinity());
}

TEST_F(PolicerRuleTest, LossByChanceIsNone) {
  EXPECT_TRUE(Send(60, Kbps(1000), 0.1).IsPlusInfinity());
  // Nor when it comes in bursts, at one rate all the time.
  for (int i = 0; i < 15; ++i) {
    EXPECT_TRUE(Send(5, Kbps(1000), 0).IsPlusInfinity());
    EXPECT_TRUE(Send(1, Kbps(1000), 0.08).IsPlusInfinity());
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
      path_.arrivals.OnArrival(ArrivalOf(path_.now, 1200, TimeDelta::Zero(), std::exchange(lost, 0)));
    }
    path_.arrivals.OnDecision(path_.now);
    ASSERT_TRUE(path_.Limit(*rule_).IsPlusInfinity()) << i;
  }
}

TEST_F(PolicerRuleTest, AQueueThatOverflowsIsNone) {
  for (int i = 0; i < 6; ++i) {
    EXPECT_TRUE(Police(4, Kbps(900), Kbps(1000)).IsPlusInfinity());
    EXPECT_TRUE(Police(2, Kbps(1300), Kbps(1000), TimeDelta::Millis(100)).IsPlusInfinity());
  }
}

TEST_F(PolicerRuleTest, LossAtEverOtherRatesIsNone) {
  for (const int64_t passed : {1000, 1500, 800, 2000, 1200}) {
    Police(4, Kbps(passed * 9 / 10), Kbps(passed));
    EXPECT_TRUE(Police(1, Kbps(passed * 13 / 10), Kbps(passed)).IsPlusInfinity());
  }
}

class OverloadRuleTest : public RuleTest {
 protected:
  // At the sender, where no back-off serves LossProof.
  OverloadRuleTest() : RuleTest("overload") { path_.reported = true; }

  // From 2 Mbps, because of loss, to 1.1 Mbps.
  void BackOff() {
    path_.rate = Kbps(2000);
    EXPECT_FALSE(Send(11, Kbps(2000), 0.09).IsPlusInfinity());
    path_.rate = Kbps(1100);
  }
};

TEST_F(OverloadRuleTest, IsSilentWithLittleLoss) {
  EXPECT_TRUE(Send(60, Kbps(2000), 0).IsPlusInfinity());
  EXPECT_TRUE(Send(60, Kbps(2000), 0.04).IsPlusInfinity());
}

TEST_F(OverloadRuleTest, TenSecondsOfLossEndInABackOffAndALimitBelowWhatArrived) {
  EXPECT_TRUE(Send(9, Kbps(2200), 0.09).IsPlusInfinity());
  EXPECT_NEAR(static_cast<double>(Send(2, Kbps(2200), 0.09).bps()), 0.65 * 2e6, 2e4);
  EXPECT_NEAR(static_cast<double>(Send(3, Kbps(1300), 0).bps()), 0.95 * 2e6, 6e4);
  // It rises by 1 % a second and ends where the path carries more.
  EXPECT_NEAR(static_cast<double>(Send(8, Kbps(1900), 0).bps()), 0.95 * 1.08 * 2e6, 6e4);
  EXPECT_TRUE(Send(2, Kbps(2200), 0).IsPlusInfinity());
}

TEST_F(OverloadRuleTest, LossThatALowerRateDoesNotEndIsLeftAloneForAMinute) {
  EXPECT_FALSE(Send(11, Kbps(2000), 0.09).IsPlusInfinity());
  EXPECT_TRUE(Send(3, Kbps(1200), 0.09).IsPlusInfinity());
  for (int i = 0; i < 55; ++i) EXPECT_TRUE(Send(1, Kbps(2000), 0.09).IsPlusInfinity()) << i;
  bool again = false;
  for (int i = 0; i < 8; ++i) again = again || !Send(1, Kbps(2000), 0.09).IsPlusInfinity();
  EXPECT_TRUE(again);
}

TEST_F(OverloadRuleTest, TheRateBeforeABackOffInVainIsInForceAgainAtOnce) {
  BackOff();
  std::vector<DataRate> applied;
  for (int i = 0; i < 100; ++i) {
    path_.Pass(Kbps(1100), 0.09);
    applied.push_back(path_.Apply(*rule_, Kbps(1100)));
  }
  EXPECT_EQ(std::ranges::count(applied, Kbps(2000)), 1);
  EXPECT_EQ(std::ranges::count(applied, Kbps(1100)), 99);
}

TEST_F(OverloadRuleTest, MeasuresTheLossThatALowerRateDoesNotEnd) {
  const auto measured = [this] { return Facts().loss_ratio_at_any_rate; };
  EXPECT_FALSE(Send(11, Kbps(2000), 0.2).IsPlusInfinity());
  EXPECT_EQ(measured(), 0) << "not before the end of a back-off";
  EXPECT_TRUE(Send(3, Kbps(1200), 0.12).IsPlusInfinity());
  EXPECT_NEAR(measured(), 0.12, 0.01);
  // A minute later a back-off ends the loss.
  for (int i = 0; i < 70 && Send(1, Kbps(2000), 0.2).IsPlusInfinity(); ++i) EXPECT_NEAR(measured(), 0.12, 0.01);
  Send(3, Kbps(1200), 0);
  EXPECT_EQ(measured(), 0);
}

TEST_F(OverloadRuleTest, TakesAFifthForTheLossOfAShortQueue) {
  EXPECT_FALSE(Send(11, Kbps(2000), 0.3).IsPlusInfinity());
  EXPECT_TRUE(Send(3, Kbps(1200), 0.22).IsPlusInfinity());
  EXPECT_EQ(Facts().loss_ratio_at_any_rate, 0);
}

TEST_F(OverloadRuleTest, ItIsNotAboveAMaximumOfMeanwhile) {
  BackOff();
  path_.constraints.max_rate = Kbps(1500);
  DataRate highest = DataRate::Zero();
  for (int i = 0; i < 100; ++i) {
    path_.Pass(Kbps(1100), 0.09);
    highest = std::max(highest, path_.Apply(*rule_, Kbps(1100)));
  }
  EXPECT_EQ(highest, Kbps(1500));
}

TEST_F(OverloadRuleTest, ALowerRateThatEndsTheLossStays) {
  BackOff();
  for (int i = 0; i < 100; ++i) {
    path_.Pass(Kbps(1100));
    GuardFacts facts = path_.Facts();
    EXPECT_EQ(rule_->Apply(Kbps(1100), facts), Kbps(1100)) << i;
    EXPECT_EQ(facts.rate_causes_losses, i >= 20) << i;
  }
}

TEST_F(OverloadRuleTest, ASenderThatDoesNotObeyProvesNothing) {
  EXPECT_FALSE(Send(11, Kbps(2000), 0.09).IsPlusInfinity());
  for (int i = 0; i < 14; ++i) EXPECT_TRUE(Send(i == 0 ? 3 : 1, Kbps(2000), 0.09).IsPlusInfinity()) << i;
  EXPECT_FALSE(Send(2, Kbps(2000), 0.09).IsPlusInfinity());
}

TEST_F(OverloadRuleTest, AFewLossesByChanceLessDoNotCountAsTheEndOfLoss) {
  // 100 packets a second: 4 % instead of 12 % in a second may be chance.
  EXPECT_FALSE(Send(11, Kbps(2000), 0.12).IsPlusInfinity());
  Send(2, Kbps(1200), 0.12);
  EXPECT_TRUE(Send(1, Kbps(1200), 0.04).IsPlusInfinity());
}

TEST_F(OverloadRuleTest, LossOfASenderThatUsesLittleOfItsRateIsLeftAlone) {
  path_.rate = Kbps(2000);
  EXPECT_TRUE(Send(60, Kbps(50), 0.09).IsPlusInfinity());
  EXPECT_FALSE(Send(11, Kbps(2000), 0.09).IsPlusInfinity());
}

// The share that the floor claims in competition with flows that keep the queue full.
class ThroughputShareTest : public RuleTest {
 protected:
  ThroughputShareTest() : RuleTest("floor") {}

  // A second at `rate` with a queue of 100 ms.
  void Second(DataRate rate, double loss_ratio = 0, bool delay_stands = true) {
    for (int i = 0; i < 10; ++i) {
      path_.Pass(rate, loss_ratio, TimeDelta::Millis(100), delay_stands);
      GuardFacts facts{
          .arrivals = path_.arrivals, .now = path_.now, .elapsed = TimeDelta::Millis(100), .rate = Kbps(1'000'000)};
      share_kbps_ = static_cast<double>(rule_->Apply(DataRate::Zero(), facts).bps()) * 1e-3;
    }
  }

  double share_kbps_ = 0;
};

TEST_F(ThroughputShareTest, IsZeroUnlessADelayStands) {
  for (int i = 0; i < 4; ++i) Second(Kbps(2000), 0, false);
  EXPECT_EQ(share_kbps_, 0);
}

TEST_F(ThroughputShareTest, IsHalfOfTheHighestRateAndFades) {
  for (int i = 0; i < 4; ++i) Second(Kbps(2000));
  EXPECT_NEAR(share_kbps_, 1000, 30);
  for (int i = 0; i < 100; ++i) Second(Kbps(100));
  EXPECT_NEAR(share_kbps_, 500, 25);
}

TEST_F(ThroughputShareTest, IsZeroWithLoss) {
  for (int i = 0; i < 4; ++i) Second(Kbps(2000));
  for (int i = 0; i < 2; ++i) Second(Kbps(2200), 0.0909);
  EXPECT_EQ(share_kbps_, 0);
  for (int i = 0; i < 2; ++i) Second(Kbps(2000));
  EXPECT_GT(share_kbps_, 900);
}

// The rate that the floor alone upholds after 20 s on a path that loses 15 % at any rate, at first 1 Mbps. With
// `has_queue` there is a queue for a tenth of each second.
DataRate FloorWithLoss(bool has_queue) {
  WatchedPath path;
  path.rate = Kbps(1000);
  const auto rule = MakeRule("floor");
  for (int i = 0; i < 200; ++i) {
    path.Pass(path.rate, 0.15, TimeDelta::Millis(has_queue && i % 10 == 0 ? 100 : 0));
    GuardFacts facts{.arrivals = path.arrivals, .now = path.now, .elapsed = TimeDelta::Millis(100), .rate = path.rate};
    const DataRate floor = rule->Apply(DataRate::Zero(), facts);
    // A start has a floor of its own, and a queue has none.
    if (i >= 130 && !floor.IsZero()) path.rate = floor;
  }
  return path.rate;
}

TEST(FloorRuleTest, WhatIsLostAtAnyRateIsNoReasonToSink) {
  const DataRate rate = FloorWithLoss(false);
  EXPECT_GT(rate, Kbps(1000));
  EXPECT_LT(rate, Kbps(3000));
}

TEST(FloorRuleTest, DoesNotGrowOnALossyPathWhoseQueueMayBeThatOfOthers) {
  const DataRate rate = FloorWithLoss(true);
  EXPECT_GT(rate, Kbps(900));
  EXPECT_LT(rate, Kbps(1050));
}

// As FloorWithLoss(), where a queue too short to be seen loses 6 % of the packets behind those that waited for `full`.
DataRate FloorWithShortQueue(TimeDelta full) {
  WatchedPath path;
  path.rate = Kbps(1000);
  const auto rule = MakeRule("floor");
  for (int i = 0; i < 200; ++i) {
    const bool is_full = i % 2 == 0;
    path.Pass(path.rate, is_full ? 0.06 : 0, is_full ? full : TimeDelta::Zero());
    GuardFacts facts{.arrivals = path.arrivals, .now = path.now, .elapsed = TimeDelta::Millis(100), .rate = path.rate};
    const DataRate floor = rule->Apply(DataRate::Zero(), facts);
    if (i >= 130 && !floor.IsZero()) path.rate = floor;
  }
  return path.rate;
}

TEST(FloorRuleTest, DoesNotGrowIntoAShortQueueThatExplainsTheLosses) {
  EXPECT_GT(FloorWithShortQueue(TimeDelta::Millis(2)), Kbps(1100)) << "one of two packets does not count";
  EXPECT_LT(FloorWithShortQueue(TimeDelta::Millis(6)), Kbps(1000));
}

class BoundsRuleTest : public RuleTest {
 protected:
  BoundsRuleTest() : RuleTest("bounds") {
    path_.constraints.max_media_rate = Kbps(1000);
    path_.rate = Kbps(1000);
  }

  // A policy that always wants more than it gets, on a path that loses so much of each rate.
  template <class LossOfRate>
  void Seconds(int count, LossOfRate loss_of) {
    for (int i = 0; i < 10 * count; ++i) {
      path_.Pass(path_.rate, loss_of(path_.rate));
      path_.rate = path_.Limit(*rule_);
      (path_.rate > Kbps(1200) ? with_repair_ : media_alone_) += 1;
    }
  }

  int with_repair_ = 0;
  int media_alone_ = 0;
};

TEST_F(BoundsRuleTest, LossLeavesRoomForRepair) {
  Seconds(20, [](DataRate) { return 0; });
  EXPECT_EQ(path_.rate, Kbps(1000));
  Seconds(20, [](DataRate) { return 0.08; });
  EXPECT_EQ(path_.rate, Kbps(2000));
  with_repair_ = media_alone_ = 0;
  Seconds(300, [](DataRate) { return 0.08; });
  EXPECT_GT(with_repair_, 2 * media_alone_);
  Seconds(20, [](DataRate) { return 0; });
  EXPECT_LE(path_.rate, Kbps(1010));
}

// A pacer sends a frame at a rate above the media's mean.
TEST_F(BoundsRuleTest, FewFramesLeaveRoomForThePacer) {
  const auto frames = [&](int64_t per_second) {
    for (int i = 0; i < 40; ++i) {
      path_.now += TimeDelta::Seconds(1) * (1.0 / static_cast<double>(per_second));
      for (int packet = 0; packet < 10; ++packet) path_.arrivals.OnArrival(ArrivalOf(path_.now, 1200));
      path_.arrivals.OnDecision(path_.now);
    }
    return path_.Limit(*rule_);
  };
  EXPECT_EQ(frames(30), Kbps(1000));
  EXPECT_EQ(frames(5), Kbps(2000));
  EXPECT_EQ(frames(1), Kbps(2000));
  frames(30);
  EXPECT_EQ(frames(30), Kbps(1000));
}

TEST_F(BoundsRuleTest, LossOfRepairItselfLeavesNone) {
  const auto overflows = [](DataRate rate) { return rate > Kbps(1200) ? 0.06 : 0; };
  Seconds(3, [](DataRate) { return 0.06; });
  Seconds(60, overflows);
  EXPECT_EQ(path_.rate, Kbps(1000));
  // Other loss left room, which ages.
  Seconds(20, [](DataRate) { return 0.06; });
  EXPECT_GT(path_.rate, Kbps(1900));
  Seconds(150, overflows);
  with_repair_ = media_alone_ = 0;
  Seconds(60, overflows);
  EXPECT_EQ(with_repair_, 0);
}

TEST(GuardRulesTest, EachHasItsOwnNameReasonAndSwitch) {
  const std::span<const GuardRuleInfo> rules = GuardRules();
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string_view name = rules[i].name();
    EXPECT_EQ(rules[i].reason, "guard_" + std::string(name));
    EXPECT_EQ(rules[i].reason.data()[rules[i].reason.size()], '\0');
    EXPECT_EQ(std::ranges::count(rules, name, &GuardRuleInfo::name), 1) << name;
    GuardOptions options;
    EXPECT_EQ(options.SwitchOff(name), rules[i].has_switch);
    for (size_t j = 0; j < rules.size(); ++j) EXPECT_EQ(options.IsOn(j), j != i || !rules[i].has_switch) << name;
    EXPECT_EQ(GuardOptions::WithoutRules().IsOn(i), !rules[i].has_switch) << name;
    EXPECT_EQ(GuardOptions::ForTraining().IsOn(i), !rules[i].has_switch || rules[i].in_training) << name;
  }
  GuardOptions options;
  EXPECT_FALSE(options.SwitchOff("no such rule"));
  EXPECT_EQ(GuardCounters{}.Of("no such rule"), 0u);
}

}  // namespace
}  // namespace weir
