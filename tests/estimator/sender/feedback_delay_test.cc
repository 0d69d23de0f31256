#include "sender/feedback_delay.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr DataRate kRate = DataRate::KilobitsPerSecond(1000);
constexpr TimeDelta kForward = TimeDelta::Millis(60);
constexpr TimeDelta kReturn = TimeDelta::Millis(30);

class FeedbackDelayTest : public ::testing::Test {
 protected:
  Timestamp Message(TimeDelta back = kReturn) {
    now_ += TimeDelta::Millis(50);
    const Timestamp arrival = now_ - back;
    delay_.OnReceived(now_, arrival, {.received = kForward + back});
    return delay_.OnFeedback(now_, arrival);
  }
  DataSize Window(TimeDelta stop = TimeDelta::Zero()) const { return delay_.CongestionWindow(now_, kRate, stop); }

  FeedbackDelay delay_;
  Timestamp now_ = Timestamp::Seconds(100);
};

TEST_F(FeedbackDelayTest, TheWindowHoldsWhatFeedbackTakesAndAQueue) {
  EXPECT_FALSE(Window().IsFinite());
  Message();
  EXPECT_EQ(Window(), kRate * (kForward + kReturn + TimeDelta::Millis(50)));
  EXPECT_EQ(Window(TimeDelta::Millis(400)), kRate * (kForward + kReturn + TimeDelta::Millis(400)));
}

TEST_F(FeedbackDelayTest, TheQueueOfALongStopIsBounded) {
  Message();
  EXPECT_EQ(Window(TimeDelta::Millis(900)), kRate * (kForward + kReturn + TimeDelta::Millis(500)));
}

TEST_F(FeedbackDelayTest, LateFeedbackIsWaitedFor) {
  Message();
  Message(kReturn + TimeDelta::Millis(70));
  EXPECT_GE(Window(), kRate * (kForward + kReturn + TimeDelta::Millis(70 + 50)));
}

TEST_F(FeedbackDelayTest, TheWindowHoldsPacketsWhoseFeedbackIsLostRepeatedly) {
  const auto after_loss = [this](TimeDelta lost) {
    for (int i = 0; i < 100; ++i) {
      Message();
      if (i % 20 == 0) delay_.OnReceived(now_, now_ - kReturn, {kForward + kReturn, kForward + kReturn + lost});
    }
    return Window();
  };
  EXPECT_EQ(after_loss(TimeDelta::Millis(150)), kRate * (kForward + kReturn + TimeDelta::Millis(150)));
  // An outage, once and repeatedly.
  delay_.OnReceived(now_, now_ - kReturn, {kForward + kReturn, TimeDelta::Seconds(1)});
  EXPECT_EQ(Window(), kRate * (kForward + kReturn + TimeDelta::Millis(150)));
  now_ += TimeDelta::Seconds(20);
  EXPECT_EQ(after_loss(TimeDelta::Seconds(3)), kRate * (kForward + kReturn + TimeDelta::Millis(50)));
}

TEST_F(FeedbackDelayTest, FeedbackWasSentTheShortestReturnDelayAgo) {
  Message();
  const Timestamp sent = Message(kReturn + TimeDelta::Millis(40));
  EXPECT_EQ(sent, now_ - kReturn - TimeDelta::Millis(1));
}

TEST_F(FeedbackDelayTest, ADelayThatPersistsLiftsTheWindow) {
  Message();
  delay_.OnOneWayDelay(now_, kForward, kRate);
  for (int i = 0; i < 30; ++i) {
    Message();
    delay_.OnOneWayDelay(now_, kForward + TimeDelta::Millis(200), kRate);
  }
  EXPECT_FALSE(Window().IsFinite());
}

}  // namespace
}  // namespace weir
