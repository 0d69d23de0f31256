#include "arrival/rtp_streams.h"

#include <gtest/gtest.h>

#include <array>

namespace weir {
namespace {

using Verdict = SequenceNumbers::Verdict;

constexpr Timestamp kTime = Timestamp::Seconds(1);

TEST(SequenceNumbersTest, CountsGapsAndTakesThemBack) {
  SequenceNumbers numbers;
  numbers.Start(65'534, kTime);
  const SequenceNumbers::Result gap = numbers.Add(2, kTime);
  EXPECT_EQ(gap.verdict, Verdict::kNew);
  EXPECT_EQ(gap.sequence_number, 65'538);
  EXPECT_EQ(gap.lost_change, 3);
  const SequenceNumbers::Result late = numbers.Add(65'535, kTime);
  EXPECT_EQ(late.verdict, Verdict::kLate);
  EXPECT_EQ(late.lost_change, -1);
  EXPECT_EQ(numbers.Add(65'535, kTime).verdict, Verdict::kDuplicate);
}

TEST(SequenceNumbersTest, ALeapCountsOnlyWhenItsSuccessorFollows) {
  SequenceNumbers numbers;
  numbers.Start(10, kTime);
  EXPECT_EQ(numbers.Add(30'000, kTime).verdict, Verdict::kLeap);
  EXPECT_EQ(numbers.Add(11, kTime).verdict, Verdict::kNew);
  EXPECT_EQ(numbers.Add(30'001, kTime).verdict, Verdict::kLeap);
  const SequenceNumbers::Result restart = numbers.Add(30'002, kTime);
  EXPECT_EQ(restart.verdict, Verdict::kRestart);
  EXPECT_EQ(restart.sequence_number, 30'002);
  EXPECT_EQ(restart.lost_change, 0);
}

TEST(SequenceNumbersTest, AGapThatTookNoTimeIsALeap) {
  SequenceNumbers numbers;
  numbers.Start(0, kTime);
  EXPECT_EQ(numbers.Add(2040, kTime + TimeDelta::Millis(10)).verdict, Verdict::kLeap);
  EXPECT_EQ(numbers.Add(1, kTime + TimeDelta::Millis(10)).verdict, Verdict::kNew);
  EXPECT_EQ(numbers.Add(150, kTime + TimeDelta::Millis(20)).lost_change, 148);
}

TEST(SequenceNumbersTest, PacketsThatWaitedInAnOutageComeBeforeItsGap) {
  SequenceNumbers numbers;
  numbers.Start(0, kTime);
  const Timestamp end = kTime + TimeDelta::Seconds(1);
  for (uint16_t i = 1; i <= 30; ++i) EXPECT_EQ(numbers.Add(i, end + TimeDelta::Millis(i)).verdict, Verdict::kNew);
  EXPECT_EQ(numbers.Add(2030, end + TimeDelta::Millis(31)).lost_change, 1999);
  EXPECT_EQ(numbers.Add(4030, end + TimeDelta::Seconds(3)).verdict, Verdict::kNew);
}

TEST(SequenceNumbersTest, TenDuplicatesInARowAreARestart) {
  SequenceNumbers numbers;
  numbers.Start(0, kTime);
  for (uint16_t i = 1; i <= 500; ++i) EXPECT_EQ(numbers.Add(i, kTime).verdict, Verdict::kNew);
  for (int copy = 0; copy < 100; ++copy) EXPECT_EQ(numbers.Add(100, kTime).verdict, Verdict::kDuplicate);
  for (uint16_t i = 101; i <= 108; ++i) EXPECT_EQ(numbers.Add(i, kTime).verdict, Verdict::kDuplicate);
  EXPECT_EQ(numbers.Add(109, kTime).verdict, Verdict::kRestart);
  EXPECT_EQ(numbers.Add(110, kTime).verdict, Verdict::kNew);
}

TEST(SsrcTableTest, EachStreamHasItsSlot) {
  SsrcTable table;
  const SsrcTable::Slot first = table.Find(7);
  EXPECT_TRUE(first.is_new);
  EXPECT_FALSE(first.evicted);
  const SsrcTable::Slot second = table.Find(0);
  EXPECT_TRUE(second.is_new);
  EXPECT_NE(first.index, second.index);
  EXPECT_EQ(table.Find(7).index, first.index);
  EXPECT_FALSE(table.Find(7).is_new);
}

TEST(SsrcTableTest, TheStreamNotHeardForLongestGivesWay) {
  SsrcTable table;
  for (uint32_t ssrc = 0; ssrc < SsrcTable::kSlots; ++ssrc) table.Find(ssrc);
  table.Find(0);
  const SsrcTable::Slot oldest = table.Find(1);
  table.Find(1);
  table.Find(2);
  const SsrcTable::Slot taken = table.Find(100'000);
  EXPECT_TRUE(taken.is_new);
  EXPECT_TRUE(taken.evicted);
  EXPECT_NE(taken.index, oldest.index);
  EXPECT_TRUE(table.Find(3).is_new);
}

TEST(SsrcTableTest, RecentOnesComeFirst) {
  SsrcTable table;
  for (const uint32_t ssrc : {4u, 5u, 6u, 4u}) table.Find(ssrc);
  std::array<uint16_t, SsrcTable::kSlots> slots{};
  ASSERT_EQ(table.Recent(slots), 3u);
  EXPECT_EQ(table.ssrc(slots[0]), 4u);
  EXPECT_EQ(table.ssrc(slots[1]), 6u);
  EXPECT_EQ(table.ssrc(slots[2]), 5u);
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
