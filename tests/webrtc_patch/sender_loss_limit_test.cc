// libwebrtc's reaction to loss with REMB alone, against its published rule.
#include "sender_loss_limit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weir::adapter {
namespace {

constexpr DataRate kStart = DataRate::KilobitsPerSecond(20'000);

class SenderLossLimitTest : public ::testing::Test {
 protected:
  // One report a second, of 1000 packets each.
  void Reports(int count, int lost) {
    for (int i = 0; i < count; ++i) {
      now_ = now_ + TimeDelta::Seconds(1);
      limit_.OnTransportLossReport({.receive_time = now_,
                                    .start_time = now_ - TimeDelta::Seconds(1),
                                    .end_time = now_,
                                    .packets_lost_delta = lost,
                                    .packets_received_delta = 1000 - lost});
    }
  }
  double rate_bps() const { return static_cast<double>(limit_.rate().bps()); }

  Timestamp now_ = Timestamp::Seconds(1);
  SenderLossLimit limit_{kStart, DataRate::KilobitsPerSecond(30), now_};
};

TEST_F(SenderLossLimitTest, HoldsBetweenTwoAndTenPercent) {
  EXPECT_EQ(limit_.rate(), kStart);
  Reports(60, 90);
  EXPECT_EQ(limit_.rate(), kStart);
}

TEST_F(SenderLossLimitTest, FallsByHalfTheLossAboveTenPercent) {
  Reports(20, 200);
  EXPECT_NEAR(rate_bps(), 20e6 * std::pow(0.9, 20), 0.05e6);
  Reports(200, 200);
  EXPECT_EQ(limit_.rate(), DataRate::KilobitsPerSecond(30));
}

TEST_F(SenderLossLimitTest, RisesByEightPercentASecondBelowTwoPercent) {
  Reports(20, 200);
  const double low_bps = rate_bps();
  Reports(11, 10);
  EXPECT_NEAR(rate_bps() / low_bps, std::pow(1.08, 11), 0.2);
}

}  // namespace
}  // namespace weir::adapter
