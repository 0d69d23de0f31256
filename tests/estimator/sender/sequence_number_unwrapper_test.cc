#include "weir/sequence_number_unwrapper.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(SequenceNumberUnwrapperTest, NumbersContinueAcrossTheWrap) {
  SequenceNumberUnwrapper numbers;
  EXPECT_EQ(numbers.OnSentPacket(65'530), 65'530);
  for (int i = 1; i <= 200'000; ++i) ASSERT_EQ(numbers.OnSentPacket(static_cast<uint16_t>(65'530 + i)), 65'530 + i);
  // Up to 2^15 - 1 numbers may be skipped.
  EXPECT_EQ(numbers.OnSentPacket(static_cast<uint16_t>(265'530 + 0x7FFF)), 265'530 + 0x7FFF);
}

TEST(SequenceNumberUnwrapperTest, AReportIsOnTheLatestPacketWithItsNumber) {
  SequenceNumberUnwrapper numbers;
  EXPECT_LT(numbers.OnReport(0), 0);
  EXPECT_LT(numbers.OnReport(65'535), 0);
  numbers.OnSentPacket(65'535);
  numbers.OnSentPacket(2);
  EXPECT_EQ(numbers.OnReport(2), 65'538);
  EXPECT_EQ(numbers.OnReport(65'535), 65'535);
  // Never sent: the packet with this number would have been sent 65,535 packets before.
  EXPECT_EQ(numbers.OnReport(3), 3);
}

TEST(SequenceNumberUnwrapperTest, APacketOutOfOrderIsNotAfterTheLatestOne) {
  SequenceNumberUnwrapper numbers;
  numbers.OnSentPacket(1000);
  EXPECT_EQ(numbers.OnSentPacket(1000), 1000);
  EXPECT_EQ(numbers.OnSentPacket(999), 999);
  EXPECT_LT(numbers.OnSentPacket(1000 + 0x8000), 1000);
  EXPECT_EQ(numbers.OnSentPacket(1001), 1001);
}

TEST(SequenceNumberUnwrapperTest, FiftyConsecutivePacketsOutOfOrderBeginANewSequence) {
  SequenceNumberUnwrapper numbers;
  numbers.OnSentPacket(1000);
  for (int i = 0; i < 30; ++i) EXPECT_LE(numbers.OnSentPacket(static_cast<uint16_t>(500 + i)), 1000);
  for (int i = 0; i < 49; ++i) EXPECT_LE(numbers.OnSentPacket(static_cast<uint16_t>(100 + i)), 1000);
  EXPECT_EQ(numbers.OnSentPacket(149), 65'536 + 149);
  EXPECT_EQ(numbers.OnSentPacket(150), 65'536 + 150);
}

}  // namespace
}  // namespace weir
