#include "sender/remb_network_controller.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/environment/environment_factory.h"

namespace weir {
namespace {

using webrtc::DataRate;
using webrtc::NetworkControlUpdate;
using webrtc::TimeDelta;
using webrtc::Timestamp;

DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSec(kbps); }

class RembNetworkControllerTest : public ::testing::Test {
 protected:
  RembNetworkControllerTest()
      : factory_(MakeRembNetworkControllerFactory(
            {.on_target_rate = [this](Timestamp, DataRate rate, RembTargetReason reason) {
              reported_.emplace_back(rate, reason);
            }})) {
    webrtc::NetworkControllerConfig config(webrtc::CreateEnvironment());
    config.constraints.at_time = now_;
    config.constraints.min_data_rate = Kbps(30);
    config.constraints.max_data_rate = Kbps(10'000);
    config.constraints.starting_rate = Kbps(300);
    controller_ = factory_->Create(config);
    Process(TimeDelta::Zero());
  }

  void Take(NetworkControlUpdate update) {
    EXPECT_TRUE(update.probe_cluster_configs.empty());
    EXPECT_FALSE(update.congestion_window);
    if (update.target_rate) {
      EXPECT_EQ(update.target_rate->at_time, now_);
      target_ = update.target_rate->target_rate;
    }
    if (update.pacer_config) pacer_ = *update.pacer_config;
  }
  void Process(TimeDelta duration) {
    for (const Timestamp end = now_ + duration; now_ <= end; now_ += factory_->GetProcessInterval()) {
      Take(controller_->OnProcessInterval({.at_time = now_}));
    }
    now_ -= factory_->GetProcessInterval();
  }
  void Send() {
    webrtc::SentPacket packet;
    packet.send_time = now_;
    Take(controller_->OnSentPacket(packet));
  }
  void Remb(DataRate rate) { Take(controller_->OnRemoteBitrateReport({.receive_time = now_, .bandwidth = rate})); }
  void Loss(uint64_t lost, uint64_t received) {
    now_ += TimeDelta::Seconds(1);
    webrtc::TransportLossReport report;
    report.receive_time = now_;
    report.packets_lost_delta = lost;
    report.packets_received_delta = received;
    Take(controller_->OnTransportLossReport(report));
  }

  Timestamp now_ = Timestamp::Seconds(100);
  std::vector<std::pair<DataRate, RembTargetReason>> reported_;
  std::unique_ptr<webrtc::NetworkControllerFactoryInterface> factory_;
  std::unique_ptr<webrtc::NetworkControllerInterface> controller_;
  std::optional<DataRate> target_;
  std::optional<webrtc::PacerConfig> pacer_;
};

TEST_F(RembNetworkControllerTest, StartsAtTheStartRate) {
  EXPECT_EQ(target_, Kbps(300));
  ASSERT_TRUE(pacer_);
  EXPECT_EQ(pacer_->data_rate(), Kbps(450));
  EXPECT_EQ(pacer_->pad_rate(), DataRate::Zero());
  EXPECT_EQ(reported_.back(), std::pair(Kbps(300), RembTargetReason::kStart));
}

TEST_F(RembNetworkControllerTest, FollowsRembAtOnceBothWays) {
  for (const int64_t kbps : {400, 6000, 800, 5000, 50}) {
    Remb(Kbps(kbps));
    EXPECT_EQ(target_, Kbps(kbps));
    EXPECT_EQ(pacer_->data_rate(), Kbps(kbps) * 1.5);
    EXPECT_EQ(reported_.back(), std::pair(Kbps(kbps), RembTargetReason::kRemb));
  }
}

TEST_F(RembNetworkControllerTest, TakesNoNoticeOfARembWithoutALimit) {
  Remb(Kbps(2000));
  Remb(DataRate::Zero());
  Remb(DataRate::PlusInfinity());
  EXPECT_EQ(target_, Kbps(2000));
}

TEST_F(RembNetworkControllerTest, StaysWithinTheBounds) {
  Remb(Kbps(20'000));
  EXPECT_EQ(target_, Kbps(10'000));
  EXPECT_EQ(reported_.back().second, RembTargetReason::kBounds);
  Remb(Kbps(1));
  EXPECT_EQ(target_, Kbps(30));
  webrtc::TargetRateConstraints constraints;
  constraints.at_time = now_;
  constraints.min_data_rate = Kbps(100);
  constraints.max_data_rate = Kbps(50);  // Less than the minimum: which then counts.
  Take(controller_->OnTargetRateConstraints(constraints));
  EXPECT_EQ(target_, Kbps(100));
}

TEST_F(RembNetworkControllerTest, ReportsNothingThatHasNotChanged) {
  Remb(Kbps(1000));
  const size_t before = reported_.size();
  for (int i = 0; i < 10; ++i) {
    now_ += TimeDelta::Millis(100);
    Remb(Kbps(1000));
    Process(TimeDelta::Millis(50));
  }
  EXPECT_EQ(reported_.size(), before);
}

TEST_F(RembNetworkControllerTest, BacksOffAtHighLossAndComesBack) {
  Remb(Kbps(1000));
  Loss(5, 95);  // 5 % is the receiver's business.
  EXPECT_EQ(target_, Kbps(1000));
  Loss(40, 60);
  EXPECT_EQ(target_, Kbps(800));
  EXPECT_EQ(reported_.back().second, RembTargetReason::kLoss);
  // REMB does not lift it ...
  Remb(Kbps(1000));
  EXPECT_EQ(target_, Kbps(800));
  Loss(40, 60);
  EXPECT_EQ(target_, Kbps(640));
  // ... but a path that loses little does, and one without loss does so soon; and a lower REMB counts at once.
  Loss(5, 95);
  EXPECT_NEAR(target_->kbps(), 691, 1);
  Loss(0, 100);
  EXPECT_EQ(*target_, Kbps(1000));
  Remb(Kbps(500));
  EXPECT_EQ(target_, Kbps(500));
  Remb(Kbps(5000));
  EXPECT_EQ(target_, Kbps(5000));
}

// A path that always loses some, and once lost more.
TEST_F(RembNetworkControllerTest, ComesBackBetweenTwoAndTenPercentOfLoss) {
  Remb(Kbps(2000));
  for (int i = 0; i < 10; ++i) Loss(40, 60);
  EXPECT_NEAR(target_->kbps(), 215, 1);
  int reports = 0;
  for (; target_ < Kbps(2000) && reports < 100; ++reports) Loss(9, 91);
  // 8 % a report.
  EXPECT_NEAR(reports, 29, 1);
  EXPECT_EQ(reported_.back().second, RembTargetReason::kRemb);
}

TEST_F(RembNetworkControllerTest, CutsForLossOncePerRoundTrip) {
  Remb(Kbps(1000));
  Take(controller_->OnRoundTripTimeUpdate({.receive_time = now_, .round_trip_time = TimeDelta::Millis(1500)}));
  Loss(50, 50);
  EXPECT_EQ(target_, Kbps(750));
  Loss(50, 50);  // A second later: of packets that were sent before the cut.
  EXPECT_EQ(target_, Kbps(750));
  Loss(50, 50);
  EXPECT_NEAR(target_->kbps(), 562, 1);
}

TEST_F(RembNetworkControllerTest, NeedsAFewPacketsToSpeakOfLoss) {
  Remb(Kbps(1000));
  Loss(4, 4);
  EXPECT_EQ(target_, Kbps(1000));
  Loss(0, 32);  // 10 % of 40: not more.
  EXPECT_EQ(target_, Kbps(1000));
  Loss(3, 4);
  Loss(9, 10);
  EXPECT_LT(target_, Kbps(1000));
}

TEST_F(RembNetworkControllerTest, BacksOffWithoutFeedback) {
  Remb(Kbps(1000));
  Send();
  Process(TimeDelta::Millis(2900));
  EXPECT_EQ(target_, Kbps(1000));
  Process(TimeDelta::Millis(200));
  EXPECT_EQ(target_, Kbps(500));
  EXPECT_EQ(reported_.back().second, RembTargetReason::kTimeout);
  Process(TimeDelta::Millis(1000));
  EXPECT_EQ(target_, Kbps(250));
  Process(TimeDelta::Seconds(20));
  EXPECT_EQ(target_, Kbps(30));
  Remb(Kbps(1000));
  EXPECT_EQ(target_, Kbps(1000));
}

TEST_F(RembNetworkControllerTest, BacksOffWhenNothingWasEverHeard) {
  Process(TimeDelta::Seconds(10));
  EXPECT_EQ(target_, Kbps(300));  // Nothing sent, nothing missed.
  Send();
  Process(TimeDelta::Millis(3100));
  EXPECT_EQ(target_, Kbps(150));
}

TEST_F(RembNetworkControllerTest, AnyFeedbackIsFeedback) {
  Remb(Kbps(1000));
  for (int i = 0; i < 10; ++i) {
    Send();
    Process(TimeDelta::Seconds(2));
    if (i % 2) {
      Loss(0, 30);
    } else {
      webrtc::TransportPacketsFeedback feedback;
      feedback.feedback_time = now_;
      Take(controller_->OnTransportPacketsFeedback(feedback));
    }
  }
  EXPECT_EQ(target_, Kbps(1000));
}

TEST_F(RembNetworkControllerTest, BeginsAnewOnAnotherRoute) {
  Remb(Kbps(5000));
  Loss(50, 50);
  webrtc::NetworkRouteChange change;
  change.at_time = now_;
  change.constraints.min_data_rate = Kbps(30);
  change.constraints.starting_rate = Kbps(400);
  Take(controller_->OnNetworkRouteChange(change));
  EXPECT_EQ(target_, Kbps(400));
  Remb(Kbps(2000));
  EXPECT_EQ(target_, Kbps(2000));
}

TEST_F(RembNetworkControllerTest, PacesAsTheStreamsAsk) {
  Remb(Kbps(1000));
  webrtc::StreamsConfig streams;
  streams.at_time = now_;
  streams.pacing_factor = 1.1;
  streams.max_padding_rate = Kbps(200);
  streams.min_total_allocated_bitrate = Kbps(50);
  Take(controller_->OnStreamsConfig(streams));
  EXPECT_EQ(pacer_->data_rate(), Kbps(1100));
  EXPECT_EQ(pacer_->pad_rate(), Kbps(200));
  Remb(Kbps(40));
  EXPECT_EQ(pacer_->data_rate(), Kbps(50));
  EXPECT_EQ(pacer_->pad_rate(), Kbps(40));
}

// libwebrtc sends all of a window as one burst, and a packet at a time where it is zero.
TEST_F(RembNetworkControllerTest, PacesPacketByPacket) {
  EXPECT_EQ(pacer_->time_window, TimeDelta::Zero());
  Remb(Kbps(8000));
  EXPECT_EQ(pacer_->time_window, TimeDelta::Zero());
  EXPECT_EQ(pacer_->data_rate(), Kbps(12'000));
}

TEST(RembTargetReason, HasNames) {
  EXPECT_EQ(ToString(RembTargetReason::kStart), "start");
  EXPECT_EQ(ToString(RembTargetReason::kBounds), "bounds");
}

}  // namespace
}  // namespace weir
