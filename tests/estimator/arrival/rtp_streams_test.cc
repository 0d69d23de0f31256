#include "arrival/rtp_streams.h"

#include <gtest/gtest.h>

#include <array>

namespace weir {
namespace {

using Verdict = SequenceNumbers::Verdict;

constexpr Timestamp kTime = Timestamp::Seconds(1);

bool SentLater() { return true; }

TEST(SequenceNumbersTest, AGapThatTookNoTimeIsALeap) {
  SequenceNumbers numbers;
  numbers.Start(0, kTime);
  EXPECT_EQ(numbers.Add(2040, kTime + TimeDelta::Millis(10), SentLater).verdict, Verdict::kLeap);
  EXPECT_EQ(numbers.Add(1, kTime + TimeDelta::Millis(10), SentLater).verdict, Verdict::kNew);
  EXPECT_EQ(numbers.Add(150, kTime + TimeDelta::Millis(20), SentLater).lost_change, 148);
}

TEST(SequenceNumbersTest, PacketsThatWaitedInAnOutageComeBeforeItsGap) {
  SequenceNumbers numbers;
  numbers.Start(0, kTime);
  const Timestamp end = kTime + TimeDelta::Seconds(1);
  for (uint16_t i = 1; i <= 30; ++i)
    EXPECT_EQ(numbers.Add(i, end + TimeDelta::Millis(i), SentLater).verdict, Verdict::kNew);
  EXPECT_EQ(numbers.Add(2030, end + TimeDelta::Millis(31), SentLater).lost_change, 1999);
  EXPECT_EQ(numbers.Add(4030, end + TimeDelta::Seconds(3), SentLater).verdict, Verdict::kNew);
}

TEST(SequenceNumbersTest, TenDuplicatesInARowAreARestart) {
  SequenceNumbers numbers;
  numbers.Start(0, kTime);
  for (uint16_t i = 1; i <= 500; ++i) EXPECT_EQ(numbers.Add(i, kTime, SentLater).verdict, Verdict::kNew);
  for (int copy = 0; copy < 100; ++copy) EXPECT_EQ(numbers.Add(100, kTime, SentLater).verdict, Verdict::kDuplicate);
  for (uint16_t i = 101; i <= 108; ++i) EXPECT_EQ(numbers.Add(i, kTime, SentLater).verdict, Verdict::kDuplicate);
  EXPECT_EQ(numbers.Add(109, kTime, SentLater).verdict, Verdict::kRestart);
  EXPECT_EQ(numbers.Add(110, kTime, SentLater).verdict, Verdict::kNew);
}

TEST(SequenceNumbersTest, CopiesAreNoRestart) {
  SequenceNumbers numbers;
  numbers.Start(0, kTime);
  for (uint16_t i = 1; i <= 500; ++i) EXPECT_EQ(numbers.Add(i, kTime, SentLater).verdict, Verdict::kNew);
  const auto sent_no_later = [] { return false; };
  for (uint16_t i = 100; i <= 200; ++i) EXPECT_EQ(numbers.Add(i, kTime, sent_no_later).verdict, Verdict::kDuplicate);
}

TEST(SsrcTableTest, WhoIsAskedForIsNotHeard) {
  SsrcTable table;
  EXPECT_FALSE(table.Known(4));
  for (const uint32_t ssrc : {4u, 5u}) table.Find(ssrc);
  EXPECT_EQ(table.Known(4), 0u);
  EXPECT_FALSE(table.Known(0));
  std::array<uint16_t, SsrcTable::kSlots> slots{};
  ASSERT_EQ(table.Recent(slots), 2u);
  EXPECT_EQ(table.ssrc(slots[0]), 5u);
}

}  // namespace
}  // namespace weir
