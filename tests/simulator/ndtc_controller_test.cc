// NDTC against its draft: what frames show of a path.
#include "endpoints/ndtc_controller.h"

#include <gtest/gtest.h>

#include <memory>

#include "test_scenarios.h"

namespace weir::sim {
namespace {

constexpr DataRate Mbps(double mbps) { return DataRate::BitsPerSecondF(1e6 * mbps); }

class NdtcControllerTest : public testing::Test {
 protected:
  static constexpr uint32_t kPayload = 1200, kHeader = 24;

  NdtcControllerTest() {
    ndtc_->OnTargetRateConstraints({.max_rate = Mbps(20), .at_time = now_});
    ndtc_->OnRoundTripTimeUpdate({.receive_time = now_, .round_trip_time = TimeDelta::Millis(40)});
  }

  // A second of frames of five packets, sent at once, over a path that carries their payload at `capacity`. Returns the
  // target.
  DataRate Pass(DataRate capacity, bool loses = false) {
    const TimeDelta spacing = DataSize::Bytes(kPayload) / capacity;
    for (int frame = 0; frame < 30; ++frame) {
      now_ += TimeDelta::Micros(33'333);
      rtp_timestamp_ += 3000;
      for (int packet = 0; packet < 5; ++packet) {
        Arrival arrival;
        arrival.packet = {.arrival_time = now_ + spacing * packet,
                          .has_abs_send_time = true,
                          .abs_send_time = 7,
                          .rtp_timestamp = rtp_timestamp_,
                          .rtp_clock_rate = 90'000,
                          .header_size = kHeader,
                          .payload_size = kPayload};
        arrival.lost_change = loses && frame == 0 && packet == 2 ? 1 : 0;
        ndtc_->OnArrival(arrival);
      }
    }
    return *ndtc_->OnTimeout(now_ + TimeDelta::Millis(60)).target_rate;
  }

  Timestamp now_ = Timestamp::Seconds(5);
  uint32_t rtp_timestamp_ = 0;
  std::unique_ptr<ReceiverController> ndtc_ = MakeNdtcController();
};

TEST_F(NdtcControllerTest, TakesSixTenthsOfWhatAPathCarries) {
  for (const double capacity : {2.0, 4.0, 10.0}) {
    Pass(Mbps(capacity));
    Pass(Mbps(capacity));
    Pass(Mbps(capacity));
    Pass(Mbps(capacity));
    const double expected = 0.6 * capacity * (kPayload + kHeader) / kPayload;
    EXPECT_NEAR(static_cast<double>(Pass(Mbps(capacity)).bps()) / 1e6, expected, 0.05 * expected);
  }
}

TEST_F(NdtcControllerTest, FallsOnLossAndRisesByFortyBytesAFrame) {
  const DataRate before = Pass(Mbps(4));
  // CMAX is twice the target, so one loss limits nothing yet, and three do.
  EXPECT_EQ(Pass(Mbps(4), true), before);
  Pass(Mbps(4), true);
  Pass(Mbps(4), true);
  const DataRate limited = Pass(Mbps(4), true);
  EXPECT_LT(limited, before * 0.8);
  const DataRate risen = Pass(Mbps(4));
  EXPECT_NEAR(static_cast<double>((risen - limited).bps()), 30 * 40 * 8 * 30, 0.1 * 30 * 40 * 8 * 30);
}

TEST_F(NdtcControllerTest, SendsVideoOverACallWithoutAQueue) {
  json scenario = Steady(4'000'000, 40);
  scenario["flows"][0]["media"] = {{"kind", "video"}};
  const auto flow = RunJob(JobOf(scenario, "ndtc"), true)["flows"][0];
  EXPECT_EQ(flow["packets_lost"], 0);
  EXPECT_GT(MeanOver(flow, "target_bps", 20, 40), 1.5e6);
  EXPECT_LT(MeanOver(flow, "target_bps", 20, 40), 3e6);
}

}  // namespace
}  // namespace weir::sim
