#include "weir/arrival/base_delay.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(5);

TEST(BaseDelayTest, IsTheSmallestOfTheLastHalfMinute) {
  BaseDelay base;
  base.Restart(kStart, TimeDelta::Millis(40));
  EXPECT_EQ(base.Update(kStart + TimeDelta::Seconds(1), TimeDelta::Millis(60)), TimeDelta::Millis(40));
  EXPECT_EQ(base.Update(kStart + TimeDelta::Seconds(2), TimeDelta::Millis(30)), TimeDelta::Millis(30));
  EXPECT_EQ(base.Update(kStart + TimeDelta::Seconds(26), TimeDelta::Millis(90)), TimeDelta::Millis(30));
  EXPECT_EQ(base.Update(kStart + TimeDelta::Seconds(33), TimeDelta::Millis(95)), TimeDelta::Millis(90));
}

TEST(BaseDelayTest, ASilenceLongerThanTheWindowForgetsAll) {
  BaseDelay base;
  base.Restart(kStart, TimeDelta::Millis(10));
  EXPECT_EQ(base.Update(kStart + TimeDelta::Seconds(1'000'000), TimeDelta::Millis(80)), TimeDelta::Millis(80));
}

TEST(BaseDelayTest, DelaysMayBeNegative) {
  BaseDelay base;
  base.Restart(kStart, TimeDelta::Zero());
  EXPECT_EQ(base.Update(kStart, TimeDelta::Millis(-15)), TimeDelta::Millis(-15));
}

}  // namespace
}  // namespace weir
