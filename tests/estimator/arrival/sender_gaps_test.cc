#include "arrival/sender_gaps.h"

#include <gtest/gtest.h>

#include "test_stream.h"

namespace weir {
namespace {

constexpr TimeDelta Ms(int64_t ms) { return TimeDelta::Millis(ms); }

class SenderGapsTest : public testing::Test {
 protected:
  // A frame of `packets`, 2 ms apart, after a time without packets.
  bool Frame(TimeDelta silence, int packets) {
    now_ += silence;
    const bool ended_gap = gaps_.OnArrival(ArrivalOf(now_, 1200));
    for (int i = 1; i < packets; ++i) EXPECT_FALSE(gaps_.OnArrival(ArrivalOf(now_ += Ms(2), 1200)));
    return ended_gap;
  }
  // A packet that arrives `silence` after the previous one.
  bool Packet(TimeDelta silence, TimeDelta delay_change, int32_t lost = 0) {
    Arrival arrival = ArrivalOf(now_ += silence, 1200, TimeDelta::Zero(), lost);
    arrival.delay_change = delay_change;
    return gaps_.OnArrival(arrival);
  }

  Timestamp now_ = Timestamp::Seconds(7);
  SenderGaps gaps_;
};

TEST_F(SenderGapsTest, FramesOfOneAndOfManyPacketsHaveTheSamePeriod) {
  for (const int packets : {1, 4, 22}) {
    gaps_ = {};
    Frame(Ms(0), packets);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(Frame(Ms(500) - Ms(2) * (packets - 1), packets));
    EXPECT_EQ(gaps_.Expected(), Ms(1500)) << packets;
  }
}

TEST_F(SenderGapsTest, OneGapPredictsThreePeriods) {
  Frame(Ms(0), 1);
  Frame(Ms(400), 1);
  EXPECT_EQ(gaps_.Expected(), Ms(1200));
}

TEST_F(SenderGapsTest, RunningVideoHasNoGaps) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(Frame(Ms(33), 4));
  EXPECT_EQ(gaps_.Expected(), TimeDelta::Zero());
}

TEST_F(SenderGapsTest, VideoThatRunsForTwoPeriodsClearsThem) {
  for (int i = 0; i < 5; ++i) Frame(Ms(1000), 1);
  for (int i = 0; i < 60; ++i) Frame(Ms(33), 1);
  EXPECT_GT(gaps_.Expected(), TimeDelta::Zero());
  Frame(Ms(33), 1);
  EXPECT_EQ(gaps_.Expected(), TimeDelta::Zero());
}

TEST_F(SenderGapsTest, FramesThatTakeMostOfAPeriodDoNotHideIt) {
  for (int i = 0; i < 5; ++i) Frame(Ms(84), 209);  // 416 ms of packets
  EXPECT_EQ(gaps_.Expected(), Ms(1500));
}

TEST_F(SenderGapsTest, TimeInWhichThePathDeliveredNothingIsNoGap) {
  for (int i = 0; i < 50; ++i) Packet(Ms(20), TimeDelta::Zero());
  EXPECT_FALSE(Packet(Ms(400), Ms(380)));
  EXPECT_FALSE(Packet(Ms(400), TimeDelta::Zero(), /*lost=*/3));
  EXPECT_EQ(gaps_.Expected(), TimeDelta::Zero());
  EXPECT_TRUE(Packet(Ms(400), Ms(100)));
  EXPECT_EQ(gaps_.Expected(), Ms(900));
}

TEST_F(SenderGapsTest, PacketsOfASlowSenderHaveNoGaps) {
  gaps_.SetTarget(DataRate::KilobitsPerSecond(96));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Frame(Ms(100), 1));
  EXPECT_FALSE(Frame(Ms(299), 1));
  EXPECT_TRUE(Frame(Ms(300), 1));
  // Packets of the old rate are under way for some intervals.
  gaps_.SetTarget(DataRate::KilobitsPerSecond(960));
  EXPECT_FALSE(Frame(Ms(100), 1));
  for (int i = 0; i < 3; ++i) gaps_.SetTarget(DataRate::KilobitsPerSecond(960));
  EXPECT_TRUE(Frame(Ms(100), 1));
  gaps_.SetTarget(DataRate::Zero());
  EXPECT_FALSE(Frame(Ms(60'000), 1));
}

TEST_F(SenderGapsTest, ExpectsAtMostFiveSeconds) {
  for (int i = 0; i < 5; ++i) Frame(Ms(60'000), 1);
  EXPECT_EQ(gaps_.Expected(), Ms(5000));
}

// Feedback that is lost leaves packets with guessed times.
TEST_F(SenderGapsTest, PacketsWithoutADelayMakeNoGap) {
  for (int i = 0; i < 10; ++i) {
    Arrival guessed = ArrivalOf(now_ += Ms(200), 1200);
    guessed.has_delay = false;
    EXPECT_FALSE(gaps_.OnArrival(guessed));
    EXPECT_FALSE(Packet(Ms(200), Ms(0)));
  }
  EXPECT_TRUE(Packet(Ms(200), Ms(0)));
}

// As the sender receives it in a report.
Arrival Reported(Timestamp now, Timestamp sent, bool has_delay = true) {
  Arrival arrival = ArrivalOf(now, 1200);
  arrival.send_time = sent;
  arrival.has_delay = has_delay;
  return arrival;
}

TEST_F(SenderGapsTest, AtTheSenderPausesOfThePathAndOfTheFeedbackAreNoGaps) {
  Timestamp sent = Timestamp::Seconds(3);
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 20; ++j) EXPECT_FALSE(gaps_.OnArrival(Reported(now_ += Ms(20), sent += Ms(20))));
    // The delay of the packet after the pause is that of the packet before it.
    EXPECT_FALSE(gaps_.OnArrival(Reported(now_ += Ms(400), sent += Ms(20))));
  }
  EXPECT_EQ(gaps_.Expected(), TimeDelta::Zero());
}

TEST_F(SenderGapsTest, AtTheSenderAGapIsKnownWhereFeedbackIsLost) {
  Timestamp sent = Timestamp::Seconds(3);
  for (int i = 0; i < 5; ++i) {
    const bool ended_gap = gaps_.OnArrival(Reported(now_ += Ms(130), sent += Ms(400), /*has_delay=*/false));
    EXPECT_EQ(ended_gap, i > 0);
  }
  EXPECT_EQ(gaps_.Expected(), Ms(1200));
  // A report on an earlier packet.
  EXPECT_FALSE(gaps_.OnArrival(Reported(now_ += Ms(20), sent - Ms(800))));
  EXPECT_TRUE(gaps_.OnArrival(Reported(now_ += Ms(20), sent += Ms(400))));
}

TEST_F(SenderGapsTest, TimesFarApartDoNotOverflow) {
  for (const int64_t years : {0, 70'000, 80'000, 90'000}) Packet(TimeDelta::Seconds(years * 31'536'000), Ms(0));
  EXPECT_EQ(gaps_.Expected(), Ms(5000));
}

TEST_F(SenderGapsTest, AClockThatIsSetBackMakesNoGap) {
  for (int i = 0; i < 5; ++i) Frame(Ms(400), 1);
  now_ = now_ - TimeDelta::Seconds(100);
  EXPECT_FALSE(Frame(Ms(0), 1));
  EXPECT_TRUE(Frame(Ms(400), 1));
  EXPECT_EQ(gaps_.Expected(), Ms(1200));
}

}  // namespace
}  // namespace weir
