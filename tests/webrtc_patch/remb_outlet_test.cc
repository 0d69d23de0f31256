#include "remb_outlet.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "modules/congestion_controller/remb_throttler.h"
#include "modules/rtp_rtcp/source/rtcp_packet/common_header.h"
#include "modules/rtp_rtcp/source/rtcp_packet/remb.h"
#include "modules/rtp_rtcp/source/rtcp_packet/remote_estimate.h"
#include "system_wrappers/include/clock.h"

namespace weir::adapter {
namespace {

class RembOutletTest : public ::testing::Test {
 protected:
  static DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

  // Returns when the throttler lets any rate pass, in ms from now, if it would drop this one.
  std::optional<int64_t> Send(int64_t kbps) { return MsUntil(outlet_.Send(Kbps(kbps), {1})); }
  std::optional<int64_t> SendAtOnce(int64_t kbps) { return MsUntil(outlet_.SendAtOnce(Kbps(kbps), {1})); }
  std::optional<int64_t> MsUntil(std::optional<Timestamp> until) {
    if (!until) return std::nullopt;
    return (*until - Timestamp::Micros(clock_.TimeInMicroseconds())).us() / 1000;
  }
  void AdvanceMs(int64_t ms) { clock_.AdvanceTimeMilliseconds(ms); }

  void OnRtcpPacket(const std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>>& messages) {
    ++rtcp_packets_;
    for (const auto& message : messages) {
      webrtc::rtcp::CommonHeader header;
      const webrtc::Buffer bytes = message->Build();
      ASSERT_TRUE(header.Parse(bytes.data(), bytes.size()));
      if (header.type() == webrtc::rtcp::Psfb::kPacketType) {
        webrtc::rtcp::Remb remb;
        ASSERT_TRUE(remb.Parse(header));
        sent_kbps_.push_back(remb.bitrate_bps() / 1000);
        continue;
      }
      webrtc::rtcp::App app;
      ASSERT_TRUE(app.Parse(header));
      webrtc::rtcp::RemoteEstimate estimate(std::move(app));
      ASSERT_TRUE(estimate.ParseData());
      remote_estimates_kbps_.push_back(estimate.estimate().link_capacity_lower.kbps());
    }
  }

  webrtc::SimulatedClock clock_{int64_t{1'000'000}};
  int rtcp_packets_ = 0;
  std::vector<int64_t> sent_kbps_;
  // Those of `sent_kbps_` that the throttler passed.
  std::vector<int64_t> throttled_kbps_;
  webrtc::RembThrottler throttler_{[this](int64_t bitrate_bps, const std::vector<uint32_t>&) {
                                     sent_kbps_.push_back(bitrate_bps / 1000);
                                     throttled_kbps_.push_back(bitrate_bps / 1000);
                                   },
                                   &clock_};
  // Lower bounds of RemoteEstimate, as they are sent.
  std::vector<int64_t> remote_estimates_kbps_;
  RembOutlet outlet_{
      &throttler_,
      [this](const std::vector<std::unique_ptr<webrtc::rtcp::RtcpPacket>>& messages) { OnRtcpPacket(messages); },
      /*sends_remote_estimate=*/true, &clock_};
};

// libwebrtc's RTCPSender, behind the throttler, adds a receiver report to each REMB.
TEST_F(RembOutletTest, SendsRembAndRemoteEstimateInOnePacketWithoutAReceiverReport) {
  Send(300);
  AdvanceMs(200);
  Send(310);
  EXPECT_EQ(rtcp_packets_, 2);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{300, 310}));
  EXPECT_EQ(remote_estimates_kbps_.size(), 2u);
  EXPECT_TRUE(throttled_kbps_.empty());
}

// libwebrtc repeats the throttler's last REMB in each report: a later one sent elsewhere would be contradicted.
TEST_F(RembOutletTest, AfterARembOfLibwebrtcAllRembsTakeItsWay) {
  static_cast<webrtc::RemoteBitrateObserver&>(outlet_).OnReceiveBitrateChanged({1}, 700'000);
  AdvanceMs(200);
  Send(300);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{700, 300}));
  EXPECT_EQ(throttled_kbps_, sent_kbps_);
  EXPECT_EQ(remote_estimates_kbps_.size(), 1u);
}

TEST_F(RembOutletTest, SendsNoRembThatTheThrottlerWouldDrop) {
  EXPECT_EQ(Send(1000), std::nullopt);
  AdvanceMs(50);
  EXPECT_EQ(Send(2000), 150);
  EXPECT_EQ(Send(1000), 150);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{1000}));
  AdvanceMs(149);
  EXPECT_EQ(Send(3000), 1);
  EXPECT_EQ(sent_kbps_.size(), 1u);
  AdvanceMs(1);
  EXPECT_EQ(Send(3000), std::nullopt);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{1000, 3000}));
}

TEST_F(RembOutletTest, LetsADecreasePassAtOnce) {
  EXPECT_EQ(Send(1000), std::nullopt);
  AdvanceMs(10);
  EXPECT_EQ(Send(960), std::nullopt);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{1000, 960}));
  // 1 % is too little, and a larger decrease is not.
  EXPECT_EQ(Send(950), 200);
  EXPECT_EQ(sent_kbps_.size(), 2u);
  EXPECT_EQ(Send(500), std::nullopt);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{1000, 960, 500}));
}

TEST_F(RembOutletTest, RepeatsAtOnceALittleLower) {
  EXPECT_EQ(Send(1000), std::nullopt);
  AdvanceMs(10);
  EXPECT_EQ(SendAtOnce(1000), 200);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{1000, 960}));
  AdvanceMs(200);
  EXPECT_EQ(SendAtOnce(1000), std::nullopt);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{1000, 960, 1000}));
}

TEST_F(RembOutletTest, NeverSaysNoLimit) {
  EXPECT_EQ(outlet_.Send(DataRate::Zero(), {}), std::nullopt);
  ASSERT_EQ(sent_kbps_.size(), 1u);
  AdvanceMs(200);
  EXPECT_EQ(outlet_.Send(DataRate::PlusInfinity(), {}), std::nullopt);
  EXPECT_EQ(sent_kbps_.back(), 4'294'950) << "with the 18 significant bits of a REMB";
}

TEST_F(RembOutletTest, EachRembHasARemoteEstimateThatNoDelayFallsBelow) {
  Send(300);
  EXPECT_EQ(remote_estimates_kbps_, (std::vector<int64_t>{1'000'000}));
  // A REMB that is not sent has none.
  Send(2000);
  EXPECT_EQ(remote_estimates_kbps_.size(), 1u);
  AdvanceMs(200);
  Send(2000);
  EXPECT_EQ(remote_estimates_kbps_.size(), 2u);
}

TEST_F(RembOutletTest, ReleaseLiftsBoth) {
  outlet_.Release();
  EXPECT_TRUE(sent_kbps_.empty() && remote_estimates_kbps_.empty()) << "nothing was announced";
  outlet_.SetSenderHasGcc(true);
  Send(300);
  outlet_.Release();
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{300, 0}));
  EXPECT_EQ(throttled_kbps_, (std::vector<int64_t>{0})) << "repeated, as it may be lost";
  EXPECT_EQ(remote_estimates_kbps_, (std::vector<int64_t>{1'000'000, 0}));
  outlet_.Release();
  EXPECT_EQ(sent_kbps_.size(), 2u);
}

TEST_F(RembOutletTest, BeforeTheFirstPacketReleaseLiftsNothing) {
  Send(300);
  outlet_.Release();
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{300}));
  EXPECT_EQ(remote_estimates_kbps_.size(), 1u);
}

TEST_F(RembOutletTest, ASenderWithoutGccGetsNeitherRemoteEstimateNorRelease) {
  outlet_.SetSenderHasGcc(false);
  Send(300);
  outlet_.Release();
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{300}));
  EXPECT_TRUE(remote_estimates_kbps_.empty());
}

TEST_F(RembOutletTest, LibwebrtcsOwnRembHasNoRemoteEstimate) {
  static_cast<webrtc::RemoteBitrateObserver&>(outlet_).OnReceiveBitrateChanged({1}, 700'000);
  EXPECT_EQ(sent_kbps_, (std::vector<int64_t>{700}));
  EXPECT_TRUE(remote_estimates_kbps_.empty());
}

}  // namespace
}  // namespace weir::adapter
