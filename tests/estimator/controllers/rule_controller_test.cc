#include "controllers/rule_controller.h"

#include <gtest/gtest.h>

#include "test_stream.h"

namespace weir {
namespace {

constexpr Timestamp kStart = Timestamp::Seconds(3);
constexpr TimeDelta kInterval = TimeDelta::Millis(100);
constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

class RuleControllerTest : public testing::Test {
 protected:
  RuleControllerTest() { rule_.OnTargetRateConstraints({.at_time = now_}); }

  // One interval in which `rate` arrives with queueing delays from `delay` upwards.
  DataRate Interval(DataRate rate, TimeDelta delay = TimeDelta::Zero()) {
    for (int i = 0; i < 10 && !rate.IsZero(); ++i) {
      const auto bytes = static_cast<uint32_t>((rate * TimeDelta::Millis(10)).bytes());
      rule_.OnArrival(ArrivalOf(now_ + TimeDelta::Millis(10) * i, bytes, delay + TimeDelta::Millis(9 - i)));
    }
    now_ += kInterval;
    EXPECT_EQ(rule_.next_timeout(), now_);
    const ReceiverControlUpdate update = rule_.OnTimeout(now_);
    EXPECT_TRUE(update.target_rate);
    return *update.target_rate;
  }

  Timestamp now_ = kStart;
  RuleController rule_;
};

TEST_F(RuleControllerTest, HoldsTheStartRateUntilThereIsAPacket) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Interval(DataRate::Zero()), Kbps(300));
}

TEST_F(RuleControllerTest, GrowsByTenPercentOnAShortQueue) {
  EXPECT_EQ(Interval(Kbps(300)), Kbps(330));
  EXPECT_EQ(Interval(Kbps(300), TimeDelta::Millis(14)), Kbps(363));
}

TEST_F(RuleControllerTest, StopsAtTwiceTheReceiveRatePlus50Kbps) {
  for (int i = 0; i < 10; ++i) Interval(Kbps(200));
  EXPECT_EQ(Interval(Kbps(200)), Kbps(450));
}

TEST_F(RuleControllerTest, FollowsTheReceiveRateOnALongQueue) {
  for (int i = 0; i < 3; ++i) Interval(Kbps(1000));
  // 1 - (30 - 7.5) / 300
  EXPECT_NEAR(static_cast<double>(Interval(Kbps(1000), TimeDelta::Millis(30)).bps()), 925'000, 1);
  EXPECT_NEAR(static_cast<double>(Interval(Kbps(1000), TimeDelta::Millis(900)).bps()), 300'000, 1);
}

TEST_F(RuleControllerTest, MeasuresTheReceiveRateOver300Milliseconds) {
  for (int i = 0; i < 3; ++i) Interval(Kbps(900), TimeDelta::Millis(900));
  Interval(Kbps(600), TimeDelta::Millis(900));
  EXPECT_NEAR(static_cast<double>(Interval(Kbps(300), TimeDelta::Millis(900)).bps()), 0.3 * 600'000, 1);
}

TEST_F(RuleControllerTest, CutsWhenNothingArrives) {
  const DataRate before = Interval(Kbps(300));
  const DataRate after = Interval(DataRate::Zero());
  EXPECT_NEAR(static_cast<double>(after.bps()), 0.6 * static_cast<double>(before.bps()), 1);
  for (int i = 0; i < 20; ++i) Interval(DataRate::Zero());
  EXPECT_EQ(Interval(DataRate::Zero()), Kbps(30));
}

TEST_F(RuleControllerTest, ToleratesSparsePacketsWhenTold) {
  rule_ = RuleController({.tolerate_sparse_packets = true});
  rule_.OnTargetRateConstraints({.at_time = now_});
  rule_.OnTargetApplied({now_, Kbps(30)});
  const DataRate with_packet = Interval(Kbps(96));
  // A packet is due every 0.3 s at 32 kbps; twice that may pass.
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Interval(DataRate::Zero()), with_packet);
  rule_.OnTargetApplied({now_, Kbps(1000)});
  EXPECT_EQ(Interval(DataRate::Zero()), Kbps(600));
}

TEST_F(RuleControllerTest, IntervalsBetweenFewFramesChangeNothingIfSparsePacketsAreTolerated) {
  rule_ = RuleController({.tolerate_sparse_packets = true});
  rule_.OnTargetRateConstraints({.at_time = now_});
  const auto frame = [&] {
    rule_.OnTargetApplied({now_, Kbps(4000)});
    return Interval(Kbps(3000));
  };
  frame();
  Interval(DataRate::Zero());
  for (int n = 0; n < 5; ++n) {
    const DataRate target = frame();
    for (int i = 0; i < 4; ++i) EXPECT_EQ(Interval(DataRate::Zero()), target) << n << " " << i;
  }
  // The receive rate of three frames.
  EXPECT_EQ(frame(), Kbps(4400));
}

TEST_F(RuleControllerTest, GoesOnFromWhatWasApplied) {
  Interval(Kbps(1000));
  rule_.OnTargetApplied({now_, Kbps(1000)});
  EXPECT_EQ(Interval(Kbps(1000)), Kbps(1100));
}

TEST_F(RuleControllerTest, ALateTimerDoesNotMakeUpForLostTime) {
  Interval(Kbps(300));
  now_ += TimeDelta::Seconds(3600);
  EXPECT_TRUE(rule_.OnTimeout(now_).target_rate);
  EXPECT_EQ(rule_.next_timeout(), now_ + kInterval);
}

}  // namespace
}  // namespace weir
