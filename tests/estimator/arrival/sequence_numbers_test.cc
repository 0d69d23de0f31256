#include "weir/arrival/sequence_numbers.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

using Verdict = SequenceNumbers::Verdict;

TEST(SequenceNumbersTest, CountsGapsAndTakesThemBack) {
  SequenceNumbers numbers;
  numbers.Start(65'534);
  const SequenceNumbers::Result gap = numbers.Add(2);
  EXPECT_EQ(gap.verdict, Verdict::kNew);
  EXPECT_EQ(gap.sequence_number, 65'538);
  EXPECT_EQ(gap.lost_change, 3);
  const SequenceNumbers::Result late = numbers.Add(65'535);
  EXPECT_EQ(late.verdict, Verdict::kLate);
  EXPECT_EQ(late.lost_change, -1);
  EXPECT_EQ(numbers.Add(65'535).verdict, Verdict::kDuplicate);
}

TEST(SequenceNumbersTest, ALeapCountsOnlyWhenItsSuccessorFollows) {
  SequenceNumbers numbers;
  numbers.Start(10);
  EXPECT_EQ(numbers.Add(30'000).verdict, Verdict::kLeap);
  EXPECT_EQ(numbers.Add(11).verdict, Verdict::kNew);
  EXPECT_EQ(numbers.Add(30'001).verdict, Verdict::kLeap);
  const SequenceNumbers::Result restart = numbers.Add(30'002);
  EXPECT_EQ(restart.verdict, Verdict::kRestart);
  EXPECT_EQ(restart.sequence_number, 30'002);
  EXPECT_EQ(restart.lost_change, 0);
}

}  // namespace
}  // namespace weir
