#include "controllers/decision_timer.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(3);
constexpr TimeDelta kInterval = TimeDelta::Millis(100);

TEST(DecisionTimerTest, NeverBeforeTheStart) {
  DecisionTimer timer;
  EXPECT_FALSE(timer.started());
  EXPECT_FALSE(timer.Take(kStart));
  timer.Start(kStart, kInterval);
  EXPECT_TRUE(timer.started());
  EXPECT_EQ(timer.due(), kStart + kInterval);
}

TEST(DecisionTimerTest, ALittleLateKeepsThePace) {
  DecisionTimer timer;
  timer.Start(kStart, kInterval);
  EXPECT_FALSE(timer.Take(kStart + TimeDelta::Millis(99)));
  EXPECT_TRUE(timer.Take(kStart + TimeDelta::Millis(130)));
  EXPECT_EQ(timer.due(), kStart + TimeDelta::Millis(200));
}

TEST(DecisionTimerTest, ALongPauseIsOneDecision) {
  DecisionTimer timer;
  timer.Start(kStart, kInterval);
  const Timestamp late = kStart + TimeDelta::Seconds(60);
  EXPECT_TRUE(timer.Take(late));
  EXPECT_EQ(timer.due(), late + kInterval);
  EXPECT_FALSE(timer.Take(late));
}

}  // namespace
}  // namespace weir
