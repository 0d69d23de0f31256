#include "weir/pool/starvation.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir {
namespace {

constexpr DataRate kTarget = DataRate::KilobitsPerSecond(500);

// A clear path whose target is used, on which all others would rise.
class StarvationTest : public testing::Test {
 protected:
  StarvationTest() {
    statistics_.interval_s = 0.1;
    statistics_.packets_received = 5;
    statistics_.receive_rate_bps = 450e3;
  }

  double Hold(DataRate advice, TimeDelta duration) {
    for (const Timestamp end = now_ + duration; now_ < end;) {
      now_ += TimeDelta::Millis(100);
      starvation_.Add(advice, others_, kTarget, statistics_, now_);
    }
    return starvation_.share();
  }

  std::vector<DataRate> others_{kTarget * 1.1, kTarget * 1.2};
  IntervalStatistics statistics_;
  Starvation starvation_;
  Timestamp now_ = Timestamp::Seconds(100);
};

TEST_F(StarvationTest, WhoDoesNotRiseStarvesThePathAfterHalfASecond) {
  EXPECT_EQ(Hold(kTarget, TimeDelta::Millis(500)), 0);
  EXPECT_GT(Hold(kTarget, TimeDelta::Seconds(5)), 0.8);
  EXPECT_LT(Hold(kTarget * 1.01, TimeDelta::Seconds(6)), 0.2);
}

TEST_F(StarvationTest, AQueueOrALossIsAReason) {
  statistics_.queueing_delay_min_s = 0.03;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
  statistics_.queueing_delay_min_s = 0;
  statistics_.loss_ratio = 0.05;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
}

TEST_F(StarvationTest, SomeMillisecondsAreAQueueWhereNothingElseDelays) {
  statistics_.queueing_delay_min_s = 0.005;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
  statistics_.delay_noise_s = 0.01;
  EXPECT_GT(Hold(kTarget, TimeDelta::Seconds(6)), 0.8);
  // Noise explains 40 ms at most.
  statistics_.delay_noise_s = 1;
  statistics_.queueing_delay_min_s = 0.05;
  EXPECT_LT(Hold(kTarget, TimeDelta::Seconds(6)), 0.1);
}

TEST_F(StarvationTest, OneIntervalOfHalfASecondShowsThatThereIsNoQueue) {
  for (int i = 0; i < 60; ++i) {
    statistics_.queueing_delay_min_s = i % 4 == 0 ? 0.001 : 0.03;
    others_[0] = kTarget * (i % 4 == 0 ? 1.1 : 1.0);
    Hold(kTarget, TimeDelta::Millis(100));
  }
  EXPECT_GT(starvation_.share(), 0.8);
}

TEST_F(StarvationTest, LossByChanceIsNone) {
  statistics_.loss_ratio = 0.05;
  statistics_.loss_at_short_queue_10s = 0.05;
  EXPECT_GT(Hold(kTarget, TimeDelta::Seconds(6)), 0.8);
}

TEST_F(StarvationTest, SoIsASenderThatDoesNotUseItsTarget) {
  statistics_.receive_rate_bps = 100e3;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
}

TEST_F(StarvationTest, SoIsAnotherThatWouldNotRiseOrNoOtherAtAll) {
  others_[0] = kTarget;
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
  others_.clear();
  EXPECT_EQ(Hold(kTarget, TimeDelta::Seconds(5)), 0);
}

}  // namespace
}  // namespace weir
