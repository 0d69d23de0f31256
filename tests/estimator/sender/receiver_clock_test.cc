#include "sender/receiver_clock.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr TimeDelta kInterval = TimeDelta::Millis(50);

// A receiver whose clock is off by `offset_`: a message every 50 ms, whose latest packet took `forward`, and which took
// 20 ms itself.
class ReceiverClockTest : public ::testing::Test {
 protected:
  bool Message(TimeDelta forward = TimeDelta::Millis(30)) {
    now_ += kInterval;
    const Timestamp arrival = now_ - TimeDelta::Millis(20);
    since_sent_ = forward + TimeDelta::Millis(20);
    receive_time_ = arrival + offset_;
    const bool restarted = clock_.OnFeedback(now_, latest_arrival_, receive_time_, since_sent_);
    latest_arrival_ = std::max(latest_arrival_, clock_.ArrivalTime(now_, receive_time_, since_sent_));
    return restarted;
  }
  bool IsPlausible(TimeDelta forward = TimeDelta::Millis(30)) { return !Message(forward) && clock_.is_plausible(); }

  ReceiverClock clock_;
  TimeDelta offset_ = TimeDelta::Seconds(-7000);
  Timestamp now_ = Timestamp::Seconds(100);
  Timestamp latest_arrival_ = Timestamp::Seconds(99);
  Timestamp receive_time_ = Timestamp::MinusInfinity();
  TimeDelta since_sent_ = TimeDelta::Zero();
};

TEST_F(ReceiverClockTest, DifferencesOfReceiveTimesCountWhateverTheirOrigin) {
  EXPECT_TRUE(IsPlausible());
  const TimeDelta first = clock_.latest_delay();
  EXPECT_TRUE(IsPlausible(TimeDelta::Millis(80)));
  EXPECT_EQ(clock_.latest_delay() - first, TimeDelta::Millis(50));
}

TEST_F(ReceiverClockTest, AStepOfTheClockIsBelievedAfterFiveMessages) {
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(IsPlausible());
  const TimeDelta before = clock_.latest_delay();
  offset_ += TimeDelta::Seconds(3);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(IsPlausible());
    // A guess by the delay before the step.
    EXPECT_EQ(clock_.ArrivalTime(now_, receive_time_, since_sent_), now_ - (since_sent_ - before));
  }
  EXPECT_TRUE(Message());
  EXPECT_TRUE(clock_.is_plausible());
  EXPECT_TRUE(IsPlausible());
  EXPECT_LT((clock_.latest_delay() - before).Abs(), TimeDelta::Millis(1));
}

TEST_F(ReceiverClockTest, DelaysThatFallOnAndOnAreImplausible) {
  EXPECT_TRUE(IsPlausible(TimeDelta::Millis(500)));
  // The messages come as late as before, so that no queue has drained.
  int implausible = 0;
  for (int i = 0; i < 4; ++i) {
    offset_ -= TimeDelta::Millis(60);
    implausible += !IsPlausible(TimeDelta::Millis(500));
  }
  EXPECT_GT(implausible, 0);
}

TEST_F(ReceiverClockTest, APauseIsLeftOut) {
  EXPECT_TRUE(IsPlausible());
  const TimeDelta before = clock_.latest_delay();
  // The sender's clock without the pause stands still; the receiver's goes on.
  offset_ += TimeDelta::Seconds(10);
  clock_.OnPause(TimeDelta::Seconds(10));
  EXPECT_TRUE(IsPlausible());
  EXPECT_EQ(clock_.latest_delay(), before);
}

}  // namespace
}  // namespace weir
