#include "sender/persistent_delay.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr TimeDelta kBase = TimeDelta::Millis(-20);
constexpr TimeDelta kInterval = TimeDelta::Millis(50);

class PersistentDelayTest : public ::testing::Test {
 protected:
  // Messages each 50 ms for so long, with a queue of so many milliseconds; false when the sign changed between.
  bool Is(bool persists, int queue_ms, TimeDelta duration) {
    for (const Timestamp end = now_ + duration; now_ < end; now_ += kInterval) {
      delay_.Update(now_, kBase + TimeDelta::Millis(queue_ms), own_);
      if (delay_.persists() != persists) return false;
    }
    return true;
  }

  PersistentDelay delay_;
  TimeDelta own_ = TimeDelta::Zero();
  Timestamp now_ = Timestamp::Seconds(100);
};

TEST_F(PersistentDelayTest, BeginsAfterASecondOfLongDelaysAndEndsAfterOneOfShortOnes) {
  EXPECT_FALSE(delay_.persists());
  EXPECT_TRUE(Is(false, 0, TimeDelta::Seconds(1)));
  EXPECT_TRUE(Is(false, 150, TimeDelta::Millis(950)));
  EXPECT_TRUE(Is(true, 150, TimeDelta::Seconds(1)));
  // Queues between the two, and short ones for a moment, change nothing.
  EXPECT_TRUE(Is(true, 75, TimeDelta::Seconds(1)));
  EXPECT_TRUE(Is(true, 0, TimeDelta::Millis(950)));
  EXPECT_TRUE(Is(true, 75, TimeDelta::Millis(50)));
  EXPECT_TRUE(Is(true, 0, TimeDelta::Millis(950)));
  EXPECT_TRUE(Is(false, 0, TimeDelta::Seconds(1)));
}

TEST_F(PersistentDelayTest, AQueueThatDrainsEachSecondDoesNotPersist) {
  EXPECT_TRUE(Is(false, 0, kInterval));
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(Is(false, 300, TimeDelta::Millis(900)));
    EXPECT_TRUE(Is(false, 90, kInterval));
  }
}

TEST_F(PersistentDelayTest, AnOutageIsNoCompetition) {
  EXPECT_TRUE(Is(false, 0, kInterval));
  now_ += TimeDelta::Seconds(5);
  EXPECT_TRUE(Is(false, 5000, TimeDelta::Millis(400)));
}

TEST_F(PersistentDelayTest, ALongerRouteCountsForSeconds) {
  EXPECT_TRUE(Is(false, 0, kInterval));
  EXPECT_TRUE(Is(false, 150, TimeDelta::Millis(900)));
  now_ += kInterval * 2;
  EXPECT_TRUE(Is(true, 150, TimeDelta::Seconds(18)));
  EXPECT_TRUE(!Is(true, 150, TimeDelta::Seconds(5)));
}

TEST_F(PersistentDelayTest, TheSmallestWindowOnASlowLinkIsNoQueueOfOthers) {
  own_ = TimeDelta::Millis(200);
  EXPECT_TRUE(Is(false, 0, kInterval));
  EXPECT_TRUE(Is(false, 250, TimeDelta::Seconds(3)));
  EXPECT_TRUE(Is(false, 400, TimeDelta::Millis(950)));
  EXPECT_TRUE(Is(true, 400, TimeDelta::Seconds(1)));
}

}  // namespace
}  // namespace weir
