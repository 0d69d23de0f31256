#include "weir/pool/trust.h"

#include <gtest/gtest.h>

#include <vector>

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

  // Of the model, after `duration`.
  double Update(TimeDelta duration = TimeDelta::Seconds(6)) {
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += TimeDelta::Millis(100);
      trust_.Update({.now = now_,
                     .objective = kBalanced,
                     .target = kTarget,
                     .statistics = statistics_,
                     .members = members_,
                     .line = {.pilot = 0, .copilots = 0b110},
                     .current = {.pilot = 0, .copilots = 0b110}},
                    members_);
    }
    return members_[0].trust;
  }

  std::vector<MemberState> members_{{.name = "weir"}, {.name = "nada"}, {.name = "rule"}};
  IntervalStatistics statistics_;
  TrustMeasure trust_;
  Timestamp now_ = Timestamp::Seconds(100);
};

TEST_F(TrustTest, IsWholeWhileNothingIsWrong) {
  EXPECT_EQ(Update(), 1);
  EXPECT_EQ(members_[1].trust, 1);
}

TEST_F(TrustTest, OnlyTheSignalsThatWereChosenCount) {
  trust_ = TrustMeasure(SetOf(TrustSignal::kStarvation));
  members_[0].rate = kTarget * 100;
  members_[0].share_outside_training = 1;
  EXPECT_EQ(Update(), 1);
  members_[0].rate = kTarget;
  EXPECT_LT(Update(), 0.3);
}

TEST_F(TrustTest, GoesWithinASecondWhereTheAdviceIsFarFromAllOthers) {
  members_[0].rate = kTarget * 100;
  EXPECT_EQ(Update(TimeDelta::Seconds(1)), 0);
  EXPECT_EQ(members_[1].trust, 1);
  members_[0].rate = kTarget * 1.1;
  EXPECT_EQ(Update(), 1);
}

TEST_F(TrustTest, TwiceTheOthersIsNotTooMuch) {
  members_[0].rate = kTarget * 2.2;
  EXPECT_EQ(Update(), 1);
}

TEST_F(TrustTest, GoesWhereThePathIsStarved) {
  members_[0].rate = kTarget;
  EXPECT_LT(Update(), 0.3);
}

TEST_F(TrustTest, GoesWhereTheFeaturesAreUnfamiliar) {
  members_[0].share_outside_training = 5.0 / 19;
  EXPECT_GT(Update(), 0.6);
  members_[0].share_outside_training = 8.0 / 19;
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

}  // namespace
}  // namespace weir
