#include <gtest/gtest.h>

#include "arrival/queueing_delay.h"

namespace weir {
namespace {

constexpr TimeDelta kBase = TimeDelta::Millis(-20);
constexpr Timestamp kStart = Timestamp::Seconds(100);

TEST(StandingDelayTest, StandsFromARiseUntilTheDelayIsGone) {
  StandingDelay standing;
  standing.OnDelay(kStart, kBase, kBase);
  EXPECT_FALSE(standing.stands());

  standing.OnRise(kStart, kBase, kBase + TimeDelta::Millis(40));
  EXPECT_TRUE(standing.stands());
  standing.OnDelay(kStart + TimeDelta::Seconds(1), kBase + TimeDelta::Millis(11), kBase);
  EXPECT_TRUE(standing.stands());
  standing.OnDelay(kStart + TimeDelta::Seconds(2), kBase + TimeDelta::Millis(9), kBase);
  EXPECT_FALSE(standing.stands());
  // A delay that has ended does not stand again with the next high delay.
  standing.OnDelay(kStart + TimeDelta::Seconds(3), kBase + TimeDelta::Millis(40), kBase);
  EXPECT_FALSE(standing.stands());
}

TEST(StandingDelayTest, TakesNoNoticeOfASmallRise) {
  StandingDelay standing;
  standing.OnRise(kStart, kBase, kBase + TimeDelta::Millis(29));
  EXPECT_FALSE(standing.stands());
}

TEST(StandingDelayTest, EndsThirtySecondsAfterTheLatestRise) {
  StandingDelay standing;
  const TimeDelta level = kBase + TimeDelta::Millis(50);
  standing.OnRise(kStart, kBase, level);
  standing.OnRise(kStart + TimeDelta::Seconds(20), level, level + TimeDelta::Millis(5));
  standing.OnDelay(kStart + TimeDelta::Seconds(49), level, level);
  EXPECT_TRUE(standing.stands());
  standing.OnDelay(kStart + TimeDelta::Seconds(51), level, level);
  EXPECT_FALSE(standing.stands());
}

TEST(StandingDelayTest, EndsWithALongQueueAboveTheLevel) {
  StandingDelay standing;
  const TimeDelta level = kBase + TimeDelta::Millis(50);
  standing.OnRise(kStart, kBase, level);
  standing.OnDelay(kStart, level + TimeDelta::Millis(150), level);
  EXPECT_TRUE(standing.stands());
  standing.OnDelay(kStart, level + TimeDelta::Millis(151), level);
  EXPECT_FALSE(standing.stands());
  standing.OnRise(kStart, level, level + TimeDelta::Millis(100));
  EXPECT_TRUE(standing.stands());
}

}  // namespace
}  // namespace weir
