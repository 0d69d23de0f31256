#include <gtest/gtest.h>

#include <vector>

#include "pool/pilot_policy.h"

namespace weir {
namespace {

constexpr DataRate kTarget = DataRate::KilobitsPerSecond(500);

// A model and two copilots on a clear path whose target is used.
class TrustTest : public testing::Test {
 protected:
  TrustTest() {
    for (MemberState& member : members_) member.rate = kTarget * 1.1;
    statistics_.interval_s = 0.1;
    statistics_.receive_rate_bps = 450e3;
  }

  // The model's trust after `duration`.
  double Update(TimeDelta duration = TimeDelta::Seconds(6)) {
    double trust = 0;
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += TimeDelta::Millis(100);
      trust = trust_.Update({.now = now_,
                             .objective = kBalanced,
                             .target = kTarget,
                             .statistics = statistics_,
                             .members = members_,
                             .line = {.pilot = 0, .copilots = 0b110},
                             .current = {.pilot = 0, .copilots = 0b110}});
    }
    return trust;
  }

  std::vector<MemberState> members_{{{.name = "weir"}}, {{.name = "nada"}}, {{.name = "rule"}}};
  IntervalStatistics statistics_;
  TrustMeasure trust_;
  Timestamp now_ = Timestamp::Seconds(100);
};

TEST_F(TrustTest, IsWholeWhileNothingIsWrong) { EXPECT_EQ(Update(), 1); }

TEST_F(TrustTest, GoesWithinASecondWhereTheAdviceIsFarFromAllOthers) {
  members_[0].rate = kTarget * 100;
  EXPECT_EQ(Update(TimeDelta::Seconds(1)), 0);
  members_[0].rate = kTarget * 1.1;
  EXPECT_EQ(Update(), 1);
}

TEST_F(TrustTest, ExtremesByTurnsDoNotCancelOut) {
  // Not starved.
  statistics_.queueing_delay_min_s = 0.05;
  double trust = 1;
  for (int i = 0; i < 60; ++i) {
    members_[0].rate = kTarget * (i % 2 == 0 ? 8.0 : 0.125);
    trust = Update(TimeDelta::Millis(100));
  }
  EXPECT_EQ(trust, 0);
}

TEST_F(TrustTest, TwiceTheOthersIsNotTooMuch) {
  members_[0].rate = kTarget * 2.2;
  EXPECT_EQ(Update(), 1);
}

TEST_F(TrustTest, GoesWhereThePathIsStarved) {
  members_[0].rate = kTarget;
  EXPECT_LT(Update(), 0.3);
}

TEST_F(TrustTest, WhoHasSaidNothingYetIsTrusted) {
  members_[0].rate.reset();
  EXPECT_EQ(Update(), 1);
}

TEST_F(TrustTest, OneAloneHasNobodyToDisagreeWith) {
  members_.resize(1);
  members_[0].rate = kTarget * 0.01;
  EXPECT_EQ(Update(), 1);
}

// A clear path whose target is used, on which all others would rise.
class StarvationTest : public testing::Test {
 protected:
  StarvationTest() {
    statistics_.interval_s = 0.1;
    statistics_.packets_received = 5;
    statistics_.receive_rate_bps = 450e3;
  }

  double Hold(DataRate advice, TimeDelta duration) {
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += TimeDelta::Millis(100);
      starvation_.Add(advice, others_, kTarget, statistics_, now_);
    }
    return starvation_.share();
  }

  std::vector<DataRate> others_{kTarget * 1.1, kTarget * 1.2};
  IntervalStatistics statistics_;
  Starvation starvation_;
  Timestamp now_ = Timestamp::Seconds(100);
};

TEST_F(StarvationTest, WhoDoesNotRiseStarvesThePathAfterHalfASecond) {
  EXPECT_EQ(Hold(kTarget, TimeDelta::Millis(500)), 0);
  EXPECT_GT(Hold(kTarget, TimeDelta::Seconds(5)), 0.8);
}

// Advice that is always a bit above the target, or goes up and down, is none that rises.
TEST_F(StarvationTest, OnlyAdviceThatRisesIsNone) {
  EXPECT_GT(Hold(kTarget * 1.01, TimeDelta::Seconds(5)), 0.8);
  for (int i = 0; i < 60; ++i) Hold(kTarget * (1.1 - 0.02 * (i % 5)), TimeDelta::Millis(100));
  EXPECT_GT(starvation_.share(), 0.8);
  statistics_.queueing_delay_min_s = 0.03;
  Hold(kTarget, TimeDelta::Seconds(10));
  statistics_.queueing_delay_min_s = 0;
  for (int i = 0; i < 60; ++i) Hold(kTarget * (1 + 0.01 * i), TimeDelta::Millis(100));
  EXPECT_LT(starvation_.share(), 0.2);
}

// A few packets a second: most intervals have none.
TEST_F(StarvationTest, AtTheMinimumAMeanTellsThatTheTargetIsUsed) {
  for (int i = 0; i < 60; ++i) {
    statistics_.receive_rate_bps = i % 4 == 0 ? 4 * 450e3 : 0;
    Hold(kTarget, TimeDelta::Millis(100));
  }
  EXPECT_GT(starvation_.share(), 0.8);
}

TEST_F(StarvationTest, AQueueOrALossIsAReason) {
  statistics_.queueing_delay_min_s = 0.03;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
  statistics_.queueing_delay_min_s = 0;
  statistics_.loss_ratio = 0.05;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
}

TEST_F(StarvationTest, SomeMillisecondsAreAQueueWhereNothingElseDelays) {
  statistics_.queueing_delay_min_s = 0.005;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
  statistics_.delay_noise_s = 0.01;
  EXPECT_GT(Hold(kTarget, TimeDelta::Seconds(6)), 0.8);
  // Noise explains 40 ms at most.
  statistics_.delay_noise_s = 1;
  statistics_.queueing_delay_min_s = 0.05;
  EXPECT_LT(Hold(kTarget, TimeDelta::Seconds(6)), 0.1);
}

TEST_F(StarvationTest, OneIntervalOfHalfASecondShowsThatThereIsNoQueue) {
  for (int i = 0; i < 60; ++i) {
    statistics_.queueing_delay_min_s = i % 4 == 0 ? 0.001 : 0.03;
    others_[0] = kTarget * (i % 4 == 0 ? 1.1 : 1.0);
    Hold(kTarget, TimeDelta::Millis(100));
  }
  EXPECT_GT(starvation_.share(), 0.8);
}

TEST_F(StarvationTest, LossByChanceIsNone) {
  statistics_.loss_ratio = 0.05;
  statistics_.loss_at_short_queue_10s = 0.05;
  EXPECT_GT(Hold(kTarget, TimeDelta::Seconds(6)), 0.8);
}

TEST_F(StarvationTest, SoIsASenderThatDoesNotUseItsTarget) {
  statistics_.receive_rate_bps = 100e3;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
}

TEST_F(StarvationTest, SoIsAnotherThatWouldNotRiseOrNoOtherAtAll) {
  others_[0] = kTarget;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
  others_.clear();
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
}

}  // namespace
}  // namespace weir
