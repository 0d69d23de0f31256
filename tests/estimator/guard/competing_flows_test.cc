#include "weir/guard/competing_flows.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

// A second of packets, 100 of them, with as many lost before every tenth.
class CompetingFlowsTest : public testing::Test {
 protected:
  void Second(int64_t bytes, int lost_in_ten = 0) {
    for (int i = 0; i < 100; ++i) {
      now_ = now_ + TimeDelta::Millis(10);
      Arrival arrival;
      arrival.packet.arrival_time = now_;
      arrival.packet.payload_size = static_cast<uint32_t>(bytes / 100);
      arrival.has_delay = true;
      arrival.lost_change = i % 10 == 9 ? lost_in_ten : 0;
      watch_.OnArrival(arrival);
      watch_.Look(now_);
      flows_.Update(watch_, TimeDelta::Millis(10));
    }
  }
  double ShareKbps(bool stands = true) const { return static_cast<double>(flows_.Share(stands).bps()) * 1e-3; }

  Timestamp now_ = Timestamp::Seconds(100);
  QueueWatch watch_;
  CompetingFlows flows_;
};

TEST_F(CompetingFlowsTest, ClaimsNothingWhileNoDelayStands) {
  for (int i = 0; i < 4; ++i) Second(250'000);
  EXPECT_EQ(ShareKbps(false), 0);
}

TEST_F(CompetingFlowsTest, ClaimsHalfOfWhatItOnceHad) {
  for (int i = 0; i < 4; ++i) Second(250'000);
  EXPECT_NEAR(ShareKbps(), 1000, 30);
  // What it has now is no measure of its share; what it had fades.
  for (int i = 0; i < 100; ++i) Second(12'500);
  EXPECT_NEAR(ShareKbps(), 500, 25);
}

TEST_F(CompetingFlowsTest, ClaimsNothingWithLoss) {
  for (int i = 0; i < 4; ++i) Second(250'000);
  for (int i = 0; i < 2; ++i) Second(250'000, 1);
  EXPECT_EQ(ShareKbps(), 0);
  for (int i = 0; i < 2; ++i) Second(250'000);
  EXPECT_GT(ShareKbps(), 900);
}

}  // namespace
}  // namespace weir
