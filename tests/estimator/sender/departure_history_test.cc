#include "sender/departure_history.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr size_t kSize = 100;
constexpr Timestamp kStart = Timestamp::Seconds(1000);

class DepartureHistoryTest : public ::testing::Test {
 protected:
  void Add(int64_t number, Timestamp time = kStart) {
    history_.Add(number, time, PacketKind::kVideo, DataSize::Bytes(1200));
  }

  DepartureHistory history_{kSize};
};

TEST_F(DepartureHistoryTest, TheOldestAreForgottenAndSkippedNumbersWereNeverSent) {
  for (int64_t number = 65'530; number <= 65'550; ++number) Add(number);
  EXPECT_TRUE(history_.Has(65'530));
  Add(65'596);
  EXPECT_FALSE(history_.Has(65'580));
  Add(65'636);
  EXPECT_FALSE(history_.Has(65'530));
  EXPECT_TRUE(history_.Has(65'550));
  EXPECT_FALSE(history_.Has(65'637));
  EXPECT_FALSE(history_.Has(-1));
}

TEST_F(DepartureHistoryTest, AGapLongerThanTheHistoryLeavesNoDepartureInIt) {
  for (int64_t number = 0; number < 10; ++number) Add(number);
  constexpr int64_t kNext = 1234;
  Add(kNext);
  for (int64_t number = kNext - static_cast<int64_t>(kSize); number < kNext; ++number)
    EXPECT_FALSE(history_.Has(number)) << number;
  EXPECT_TRUE(history_.Has(kNext));
}

TEST_F(DepartureHistoryTest, NumbersRiseUpToAMaximum) {
  EXPECT_FALSE(history_.MayFollow(-1));
  Add(1000);
  EXPECT_TRUE(history_.MayFollow(1001));
  EXPECT_FALSE(history_.MayFollow(1000));
  EXPECT_FALSE(history_.MayFollow(999));
  EXPECT_FALSE(history_.MayFollow(DepartureHistory::kMaxNumber + 1));
  Add(DepartureHistory::kMaxNumber);
  EXPECT_TRUE(history_.Has(DepartureHistory::kMaxNumber));
}

TEST_F(DepartureHistoryTest, TimesSinceDeparturesAreExact) {
  constexpr int64_t kNumber = 1;
  Add(kNumber, kStart + TimeDelta::Micros(1));
  for (const int64_t us : {int64_t{1}, int64_t{100'000}, int64_t{3'600'000'000}})
    EXPECT_EQ(history_.SinceSent(kNumber, kStart + TimeDelta::Micros(1 + us)), TimeDelta::Micros(us));
}

TEST_F(DepartureHistoryTest, WhatIsInFlightIsForgottenAtAPause) {
  for (int64_t i = 0; i < 10; ++i) Add(i);
  EXPECT_FALSE(history_.all_settled());
  history_.At(5).state = DepartureHistory::State::kLost;
  history_.SettleUntil(4);
  EXPECT_EQ(history_.first_unsettled(), 4);
  EXPECT_EQ(history_.ForgetUnsettled(), 5);
  EXPECT_TRUE(history_.all_settled());
  EXPECT_TRUE(history_.Has(5));
  EXPECT_FALSE(history_.Has(6));
}

}  // namespace
}  // namespace weir
