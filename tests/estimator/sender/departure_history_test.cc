#include "sender/departure_history.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr size_t kSize = 100;
constexpr Timestamp kStart = Timestamp::Seconds(1000);

class DepartureHistoryTest : public ::testing::Test {
 protected:
  int64_t Add(uint16_t sequence_number, Timestamp time = kStart) {
    return history_.Add(sequence_number, time, PacketKind::kVideo, DataSize::Bytes(1200));
  }

  DepartureHistory history_{kSize};
};

TEST_F(DepartureHistoryTest, NumbersGoOnAcrossTheWrapAndTheOldestAreForgotten) {
  EXPECT_EQ(Add(65'530), 65'530);
  for (int i = 1; i <= 20; ++i) EXPECT_EQ(Add(static_cast<uint16_t>(65'530 + i)), 65'530 + i);
  EXPECT_EQ(history_.Unwrap(65'531), 65'531);
  EXPECT_EQ(history_.Unwrap(3), 65'539);
  EXPECT_TRUE(history_.Has(65'530));
  // Numbers that were passed over are of no packet.
  EXPECT_EQ(Add(60), 65'596);
  EXPECT_FALSE(history_.Has(65'580));
  Add(100);
  EXPECT_FALSE(history_.Has(65'530));
  EXPECT_TRUE(history_.Has(65'550));
  // The latest departure with a number of the future was never sent.
  EXPECT_FALSE(history_.Has(history_.Unwrap(101)));
}

TEST_F(DepartureHistoryTest, FiftyInARowOutOfOrderBeginAnew) {
  Add(1000);
  EXPECT_TRUE(history_.MayFollow(1001));
  EXPECT_FALSE(history_.MayFollow(1000));
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(history_.MayFollow(static_cast<uint16_t>(500 + i)));
  for (int i = 0; i < 49; ++i) EXPECT_FALSE(history_.MayFollow(static_cast<uint16_t>(100 + i)));
  ASSERT_TRUE(history_.MayFollow(149));
  const int64_t number = Add(149);
  EXPECT_EQ(number % 65'536, 149);
  EXPECT_TRUE(history_.MayFollow(150));
}

TEST_F(DepartureHistoryTest, TimesSinceDeparturesAreExact) {
  const int64_t number = Add(1, kStart + TimeDelta::Micros(1));
  for (const int64_t us : {int64_t{1}, int64_t{100'000}, int64_t{3'600'000'000}})
    EXPECT_EQ(history_.SinceSent(number, kStart + TimeDelta::Micros(1 + us)), TimeDelta::Micros(us));
}

TEST_F(DepartureHistoryTest, WhatIsInFlightIsForgottenAtAPause) {
  for (uint16_t i = 0; i < 10; ++i) Add(i);
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
