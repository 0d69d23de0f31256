#include "weir/repair_policy.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace weir {
namespace {

class RepairPolicyTest : public ::testing::Test {
 protected:
  // Observes a state for a second, and returns the repair at its end.
  Repair Second(std::optional<int64_t> repair_ms, double loss_ratio, double nack_loss_ratio = 0,
                DataRate rate = DataRate::KilobitsPerSecond(1000)) {
    for (int i = 0; i < 10; ++i) {
      now_ += TimeDelta::Millis(100);
      RepairObservation observation;
      observation.at_time = now_;
      if (repair_ms) observation.repair_time = TimeDelta::Millis(*repair_ms);
      observation.rate = rate;
      observation.loss_ratio = loss_ratio;
      observation.nack_loss_ratio = nack_loss_ratio;
      policy_.Update(observation);
    }
    return policy_.repair();
  }
  void Seconds(int count, std::optional<int64_t> repair_ms, double loss_ratio, double nack_loss_ratio = 0) {
    for (int i = 0; i < count; ++i) Second(repair_ms, loss_ratio, nack_loss_ratio);
  }

  RepairPolicy policy_;
  Timestamp now_ = Timestamp::Seconds(100);
};

TEST_F(RepairPolicyTest, WithoutLossNothingIsRepaired) {
  EXPECT_EQ(Second(300, 0), Repair::kNone);
  EXPECT_EQ(Second(std::nullopt, 0), Repair::kNone);
}

TEST_F(RepairPolicyTest, AnUnknownRepairTimeChoosesNothing) { EXPECT_EQ(Second(std::nullopt, 0.05), Repair::kNone); }

TEST_F(RepairPolicyTest, FastRepairsNeedNoFecAtAnyLoss) {
  for (const double loss : {0.01, 0.03, 0.08, 0.2}) EXPECT_EQ(Second(55, loss), Repair::kNack) << loss;
}

TEST_F(RepairPolicyTest, TheLongerARepairTakesTheLessLossItMayLeave) {
  EXPECT_EQ(Second(140, 0.01), Repair::kNack);
  EXPECT_EQ(Second(112, 0.03), Repair::kNack);
  EXPECT_EQ(Second(112, 0.08), Repair::kFec);
  EXPECT_EQ(RepairPolicy().Update({.at_time = now_, .repair_time = TimeDelta::Millis(260), .loss_ratio = 0.01}),
            Repair::kFec);
}

TEST_F(RepairPolicyTest, LostNacksNeedFecHoweverShortTheRoundTrip) {
  EXPECT_EQ(Second(55, 0.03, 0.02), Repair::kNack);
  EXPECT_EQ(Second(55, 0.03, 0.15), Repair::kFec);
}

TEST_F(RepairPolicyTest, AWrongGuessIsUndoneWithinASecond) {
  EXPECT_EQ(Second(55, 0.08), Repair::kNack);
  EXPECT_EQ(Second(250, 0.08), Repair::kFec);
}

TEST_F(RepairPolicyTest, AtALowRateFramesAreNotCopied) {
  EXPECT_EQ(Second(300, 0.1, 0, DataRate::KilobitsPerSecond(100)), Repair::kNack);
}

TEST_F(RepairPolicyTest, FecStaysForTenSecondsAndLeavesWithHysteresis) {
  EXPECT_EQ(Second(112, 0.08), Repair::kFec);
  Seconds(5, 55, 0.01);
  EXPECT_EQ(policy_.repair(), Repair::kFec);
  Seconds(15, 95, 0.08);
  EXPECT_EQ(policy_.repair(), Repair::kFec) << "95 ms is more than 0.9 times 100 ms";
  Seconds(11, 85, 0.08);
  EXPECT_EQ(policy_.repair(), Repair::kNack);
}

TEST_F(RepairPolicyTest, FecStaysLongerEachTimeThatNacksAreLostAgain) {
  const auto seconds_of_fec = [&] {
    EXPECT_EQ(Second(55, 0.03, 0.2), Repair::kFec);
    int seconds = 0;
    for (; policy_.repair() == Repair::kFec && seconds < 300; ++seconds) Second(55, 0.03);
    return seconds;
  };
  EXPECT_NEAR(seconds_of_fec(), 10, 1);
  EXPECT_NEAR(seconds_of_fec(), 20, 1);
  EXPECT_NEAR(seconds_of_fec(), 40, 1);
  Seconds(61, 55, 0.03);
  EXPECT_NEAR(seconds_of_fec(), 10, 1);
}

TEST_F(RepairPolicyTest, ImpossibleValuesCountAsAbsent) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(Second(55, nan, nan), Repair::kNone);
  EXPECT_EQ(Second(55, 7, -1), Repair::kNack);
  EXPECT_EQ(Second(-5, 0.05), Repair::kNone);
  EXPECT_EQ(Second(55, 0.05), Repair::kNack);
  EXPECT_EQ(policy_.Update({.at_time = now_, .repair_time = TimeDelta::Seconds(1), .loss_ratio = 0.5}), Repair::kNack)
      << "not after the previous one";
  EXPECT_EQ(policy_.Update({.at_time = Timestamp::PlusInfinity(), .loss_ratio = 0.5}), Repair::kNack);
}

TEST(RepairNames, AreThoseOfTheHeader) {
  EXPECT_EQ(ToString(Repair::kNone), "none");
  EXPECT_EQ(ToString(Repair::kNack), "nack");
  EXPECT_EQ(ToString(Repair::kFec), "fec");
}

}  // namespace
}  // namespace weir
