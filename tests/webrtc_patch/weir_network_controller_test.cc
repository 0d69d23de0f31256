#include "sender/weir_network_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/environment/environment_factory.h"
#include "scripted_call.h"
#include "send_side_controller.h"

namespace weir {
namespace {

using webrtc::NetworkControlUpdate;
using webrtc::TimeDelta;
using webrtc::Timestamp;

webrtc::DataRate Kbps(int64_t kbps) { return webrtc::DataRate::KilobitsPerSec(kbps); }

// A path that delivers what is sent, in order and at its own rate, and feedback every 50 ms.
class WeirNetworkControllerTest : public ::testing::Test {
 protected:
  WeirNetworkControllerTest()
      : factory_(std::move(MakeWeirNetworkControllerFactory({.on_target_rate = [this](const Estimate& estimate) {
                             reported_.push_back(estimate);
                           }}).value())) {
    webrtc::NetworkControllerConfig config(webrtc::CreateEnvironment());
    config.constraints.at_time = now_;
    config.constraints.min_data_rate = Kbps(30);
    config.constraints.max_data_rate = Kbps(3000);
    config.constraints.starting_rate = Kbps(300);
    // Which libwebrtc's video asks for, in vain.
    config.stream_based_config.pacing_factor = 1.1;
    controller_ = factory_->Create(config);
    Take(controller_->OnProcessInterval({.at_time = now_}));
  }

  void Take(const NetworkControlUpdate& update) {
    clusters_.insert(clusters_.end(), update.probe_cluster_configs.begin(), update.probe_cluster_configs.end());
    if (update.congestion_window) window_ = *update.congestion_window;
    EXPECT_EQ(update.target_rate.has_value(), update.pacer_config.has_value());
    if (!update.target_rate) return;
    target_ = update.target_rate->target_rate;
    pacer_ = *update.pacer_config;
    EXPECT_EQ(update.pacer_config->pad_rate(), webrtc::DataRate::Zero());
    EXPECT_FALSE(reported_.empty());
    EXPECT_EQ(reported_.back().target_rate.bps(), target_.bps());
  }

  // Sends full packets at the target for a while; nothing comes back after `silent_from`.
  void Send(TimeDelta duration, webrtc::DataRate capacity = Kbps(1000),
            Timestamp silent_from = Timestamp::PlusInfinity()) {
    constexpr TimeDelta kStep = TimeDelta::Millis(5);
    const webrtc::DataSize size = webrtc::DataSize::Bytes(1200);
    const auto send = [&](webrtc::DataSize packet_size, const webrtc::PacedPacketInfo& pacing_info) {
      webrtc::PacketResult packet;
      packet.sent_packet.send_time = now_;
      packet.sent_packet.pacing_info = pacing_info;
      packet.sent_packet.size = packet_size;
      packet.sent_packet.sequence_number = ++sequence_number_;
      Take(controller_->OnSentPacket(packet.sent_packet));
      free_ = std::max(free_, now_) + packet_size / capacity;
      // The receiver's clock is another.
      packet.receive_time = free_ + TimeDelta::Millis(20) + TimeDelta::Seconds(7);
      packet.ecn = ecn_;
      if (now_ < silent_from) in_flight_.push_back(packet);
    };
    for (const Timestamp end = now_ + duration; now_ < end; now_ += kStep) {
      for (; next_send_ <= now_; next_send_ += size / target_) send(size, {});
      if (sends_probes_ && !clusters_.empty()) {
        const webrtc::ProbeClusterConfig cluster = clusters_.front();
        send(cluster.target_data_rate * kStep, webrtc::PacedPacketInfo(cluster.id, cluster.target_probe_count, 1));
        if (++probe_packets_ % cluster.target_probe_count == 0) clusters_.erase(clusters_.begin());
      }
      if (now_.ms() % 50 == 0) Feedback();
      if (now_.ms() % 25 == 0) Take(controller_->OnProcessInterval({.at_time = now_}));
    }
  }

  void Feedback() {
    webrtc::TransportPacketsFeedback feedback;
    feedback.feedback_time = now_;
    const auto arrived = [this](const webrtc::PacketResult& packet) {
      return packet.receive_time <= now_ - TimeDelta::Millis(20) + TimeDelta::Seconds(7);
    };
    while (!in_flight_.empty() && arrived(in_flight_.front())) {
      feedback.packet_feedbacks.push_back(in_flight_.front());
      in_flight_.erase(in_flight_.begin());
    }
    if (!feedback.packet_feedbacks.empty()) Take(controller_->OnTransportPacketsFeedback(feedback));
  }

  void Remb(webrtc::DataRate rate) {
    Take(controller_->OnRemoteBitrateReport({.receive_time = now_, .bandwidth = rate}));
  }

  Timestamp now_ = Timestamp::Seconds(100);
  Timestamp next_send_ = now_;
  Timestamp free_ = now_;
  // As wide as libwebrtc's: 64 bits, of which the header extension has 16.
  int64_t sequence_number_ = 65'500;
  std::vector<webrtc::PacketResult> in_flight_;
  std::vector<Estimate> reported_;
  std::unique_ptr<webrtc::NetworkControllerFactoryInterface> factory_;
  std::unique_ptr<webrtc::NetworkControllerInterface> controller_;
  // Packets arrive with it.
  webrtc::EcnMarking ecn_ = webrtc::EcnMarking::kNotEct;
  // Those not sent yet.
  std::vector<webrtc::ProbeClusterConfig> clusters_;
  bool sends_probes_ = false;
  int probe_packets_ = 0;
  webrtc::PacerConfig pacer_;
  webrtc::DataRate target_ = webrtc::DataRate::Zero();
  webrtc::DataSize window_ = webrtc::DataSize::PlusInfinity();
};

TEST_F(WeirNetworkControllerTest, StartsAtTheStartRate) {
  EXPECT_EQ(target_, Kbps(300));
  EXPECT_EQ(reported_.back().reason.source, TargetSource::kStart);
  EXPECT_EQ(reported_.back().at_time.us(), now_.us());
}

TEST_F(WeirNetworkControllerTest, ProbesFindTheFirstRate) {
  sends_probes_ = true;
  Send(TimeDelta::Millis(10), Kbps(20'000));
  ASSERT_EQ(clusters_.size(), 1u) << "with the first packets";
  EXPECT_EQ(clusters_.front().target_data_rate, Kbps(900));
  EXPECT_EQ(clusters_.front().at_time, Timestamp::Seconds(100));
  Send(TimeDelta::Millis(390), Kbps(20'000));
  EXPECT_GT(target_, Kbps(2500));
  EXPECT_EQ(probe_packets_, 15);
  // A new path is probed anew.
  webrtc::NetworkRouteChange change;
  change.at_time = now_;
  change.constraints.starting_rate = Kbps(300);
  Take(controller_->OnNetworkRouteChange(change));
  EXPECT_EQ(target_, Kbps(300));
  Send(TimeDelta::Millis(5), Kbps(20'000));
  ASSERT_EQ(clusters_.size(), 1u);
  EXPECT_EQ(clusters_.front().target_data_rate, Kbps(900));
  EXPECT_EQ(clusters_.front().id, 4) << "not that of a packet that is still in the pacer";
}

TEST_F(WeirNetworkControllerTest, FindsTheRateOfThePathFromFeedbackAlone) {
  Send(TimeDelta::Seconds(20));
  EXPECT_GT(target_, Kbps(700));
  EXPECT_LT(target_, Kbps(1150));
  EXPECT_EQ(reported_.back().reason.source, TargetSource::kController);
  Send(TimeDelta::Seconds(10), Kbps(400));
  EXPECT_LT(target_, Kbps(460));
}

// 40 ms there and back, up to 50 ms until the feedback, some of what the packets waited, and 50 ms.
TEST_F(WeirNetworkControllerTest, PassesTheCongestionWindowOn) {
  EXPECT_EQ(window_, webrtc::DataSize::PlusInfinity());
  Send(TimeDelta::Seconds(20));
  EXPECT_GE(window_ / target_, TimeDelta::Millis(90));
  EXPECT_LT(window_ / target_, TimeDelta::Millis(200));
  webrtc::NetworkRouteChange change;
  change.at_time = now_;
  Take(controller_->OnNetworkRouteChange(change));
  EXPECT_EQ(window_, webrtc::DataSize::PlusInfinity());
}

// libwebrtc pauses its encoders at a target of zero.
TEST_F(WeirNetworkControllerTest, NoFrameIsEncodedAfterTheCongestionWindowWasFullFor350Ms) {
  Send(TimeDelta::Seconds(20));
  const webrtc::DataRate before = target_;
  webrtc::PacketResult packet;
  packet.sent_packet.send_time = now_;
  packet.sent_packet.size = webrtc::DataSize::Bytes(1200);
  packet.sent_packet.sequence_number = ++sequence_number_;
  packet.sent_packet.data_in_flight = window_ * 2;
  EXPECT_FALSE(controller_->OnSentPacket(packet.sent_packet).target_rate);

  const auto process = [this] { return controller_->OnProcessInterval({.at_time = now_ += TimeDelta::Millis(25)}); };
  for (int i = 0; i < 13; ++i) {
    const NetworkControlUpdate update = process();
    EXPECT_FALSE(update.target_rate && update.target_rate->target_rate.IsZero());
  }
  const NetworkControlUpdate paused = process();
  ASSERT_TRUE(paused.target_rate);
  EXPECT_EQ(paused.target_rate->target_rate, webrtc::DataRate::Zero());
  EXPECT_GT(paused.pacer_config->data_rate(), before) << "what is in the pacer leaves";
  EXPECT_GT(reported_.back().target_rate, DataRate::Zero()) << "the target goes on";

  packet.receive_time = now_ - TimeDelta::Millis(20) + TimeDelta::Seconds(7);
  webrtc::TransportPacketsFeedback feedback;
  feedback.feedback_time = now_;
  feedback.packet_feedbacks = {packet};
  const NetworkControlUpdate open = controller_->OnTransportPacketsFeedback(feedback);
  ASSERT_TRUE(open.target_rate);
  EXPECT_GT(open.target_rate->target_rate, before * 0.3);
}

TEST_F(WeirNetworkControllerTest, WantsNoMoreThanTheStreamsWhereNothingIsLost) {
  webrtc::StreamsConfig streams;
  streams.at_time = now_;
  streams.max_total_allocated_bitrate = Kbps(300);
  Take(controller_->OnStreamsConfig(streams));
  Send(TimeDelta::Seconds(20));
  EXPECT_EQ(target_, Kbps(330));
  // One is muted, and will come back.
  streams.max_total_allocated_bitrate = Kbps(200);
  Take(controller_->OnStreamsConfig(streams));
  Send(TimeDelta::Seconds(5));
  EXPECT_EQ(target_, Kbps(330));
  // Never more than twice what those do that are left.
  streams.max_total_allocated_bitrate = Kbps(100);
  Take(controller_->OnStreamsConfig(streams));
  EXPECT_EQ(target_, Kbps(200));
  // No streams is no wish; what was known of the path still is.
  streams.max_total_allocated_bitrate = Kbps(0);
  Take(controller_->OnStreamsConfig(streams));
  EXPECT_GE(target_, Kbps(330));
  Send(TimeDelta::Seconds(20));
  EXPECT_GT(target_, Kbps(700));
}

TEST_F(WeirNetworkControllerTest, PacesInBurstsThatEmptyThePacer) {
  Send(TimeDelta::Seconds(5));
  // libwebrtc's 40 ms fill short queues.
  EXPECT_EQ(pacer_.time_window, TimeDelta::Millis(5));
  // The pacer has its rates in whole bytes a window.
  EXPECT_NEAR(pacer_.data_rate().bps<double>(), 2.5 * target_.bps<double>(), 2000);
}

// A sender of ECT(1) answers CE marks (RFC 9331 section 4.3), and an L4S queue marks bursts.
TEST_F(WeirNetworkControllerTest, SendsEct1EvenlyAndObeysMarks) {
  EXPECT_TRUE(controller_->SupportsEcnAdaptation());
  ecn_ = webrtc::EcnMarking::kEct1;
  Send(TimeDelta::Seconds(10));
  EXPECT_EQ(pacer_.time_window, TimeDelta::Millis(1));
  EXPECT_NEAR(pacer_.data_rate().bps<double>(), 1.5 * target_.bps<double>(), 8000);
  const webrtc::DataRate before = target_;
  ecn_ = webrtc::EcnMarking::kCe;
  Send(TimeDelta::Seconds(1));
  EXPECT_LT(target_, before * 0.9);
}

TEST_F(WeirNetworkControllerTest, ObeysASmallerRembAndNoOther) {
  Send(TimeDelta::Seconds(20));
  const webrtc::DataRate before = target_;
  Remb(webrtc::DataRate::Zero());
  Remb(webrtc::DataRate::PlusInfinity());
  Remb(Kbps(9000));
  EXPECT_EQ(target_, before);
  Remb(Kbps(200));
  EXPECT_EQ(target_, Kbps(200));
  Send(TimeDelta::Seconds(5));
  EXPECT_EQ(target_, Kbps(200));
  Remb(Kbps(9000));
  Send(TimeDelta::Seconds(20));
  EXPECT_GT(target_, Kbps(700));
  Remb(Kbps(1));
  EXPECT_EQ(target_, Kbps(30));
}

TEST_F(WeirNetworkControllerTest, FollowsRembAloneWhereThePeerReportsNothing) {
  Remb(Kbps(2000));
  EXPECT_EQ(target_, Kbps(2000));
  for (int i = 0; i < 400; ++i) {
    now_ += TimeDelta::Millis(25);
    Take(controller_->OnProcessInterval({.at_time = now_}));
  }
  EXPECT_EQ(target_, Kbps(2000));
  Remb(Kbps(500));
  EXPECT_EQ(target_, Kbps(500));
  // Within min_data_rate and max_data_rate, also after these change.
  Remb(Kbps(1));
  EXPECT_EQ(target_, Kbps(30));
  Remb(Kbps(9000));
  EXPECT_EQ(target_, Kbps(3000));
  webrtc::TargetRateConstraints constraints;
  constraints.at_time = now_;
  constraints.min_data_rate = Kbps(30);
  constraints.max_data_rate = Kbps(6000);
  Take(controller_->OnTargetRateConstraints(constraints));
  EXPECT_EQ(target_, Kbps(6000));
  constraints.max_data_rate = Kbps(250);
  Take(controller_->OnTargetRateConstraints(constraints));
  EXPECT_EQ(target_, Kbps(250));
}

// The estimator has the bounds, so that nothing bounds its target afterwards.
TEST_F(WeirNetworkControllerTest, TheTargetIsWithinTheBoundsAfterEveryChange) {
  Send(TimeDelta::Seconds(20));
  for (int i = 0; i < 200; ++i) {
    webrtc::TargetRateConstraints constraints;
    constraints.at_time = now_;
    constraints.min_data_rate = Kbps(30 + i * 37 % 400);
    constraints.max_data_rate = Kbps(430 + i * 71 % 900);
    Take(controller_->OnTargetRateConstraints(constraints));
    Remb(Kbps(1 + i * 53 % 1500));
    const webrtc::DataRate max =
        std::clamp(Kbps(1 + i * 53 % 1500), *constraints.min_data_rate, *constraints.max_data_rate);
    EXPECT_GE(target_, *constraints.min_data_rate);
    EXPECT_LE(target_, max);
    Send(TimeDelta::Millis(200));
    EXPECT_GE(target_, *constraints.min_data_rate);
    EXPECT_LE(target_, max);
  }
}

TEST_F(WeirNetworkControllerTest, YieldsWhenNothingComesBack) {
  Send(TimeDelta::Seconds(20));
  const webrtc::DataRate before = target_;
  Send(TimeDelta::Seconds(4), Kbps(1000), now_);
  EXPECT_LT(target_, before * 0.7);
  const webrtc::DataRate silent = target_;
  Send(TimeDelta::Seconds(20));
  EXPECT_GT(target_, std::max(silent, Kbps(700)));
}

TEST_F(WeirNetworkControllerTest, ANetworkThatWasAwayBeginsWhereItWas) {
  Send(TimeDelta::Seconds(20));
  const webrtc::DataRate before = target_;
  Take(controller_->OnNetworkAvailability({.at_time = now_, .network_available = false}));
  for (int i = 0; i < 200; ++i) {
    now_ += TimeDelta::Millis(25);
    Take(controller_->OnProcessInterval({.at_time = now_}));
  }
  Take(controller_->OnNetworkAvailability({.at_time = now_, .network_available = true}));
  EXPECT_EQ(target_, before);
  next_send_ = now_;
  in_flight_.clear();
  Send(TimeDelta::Seconds(10));
  EXPECT_GT(target_, Kbps(700));
}

TEST_F(WeirNetworkControllerTest, AnotherRouteBeginsAnew) {
  Send(TimeDelta::Seconds(20));
  Remb(Kbps(200));
  webrtc::NetworkRouteChange change;
  change.at_time = now_;
  change.constraints.min_data_rate = Kbps(30);
  change.constraints.max_data_rate = Kbps(3000);
  change.constraints.starting_rate = Kbps(500);
  Take(controller_->OnNetworkRouteChange(change));
  EXPECT_EQ(target_, Kbps(500));
  Send(TimeDelta::Seconds(20));
  EXPECT_GT(target_, Kbps(700));
}

TEST_F(WeirNetworkControllerTest, KeepsToNewBoundsAtOnce) {
  Send(TimeDelta::Seconds(20));
  webrtc::TargetRateConstraints constraints;
  constraints.at_time = now_;
  constraints.min_data_rate = Kbps(100);
  constraints.max_data_rate = Kbps(250);
  Take(controller_->OnTargetRateConstraints(constraints));
  EXPECT_EQ(target_, Kbps(250));
  constraints.starting_rate = Kbps(150);
  Take(controller_->OnTargetRateConstraints(constraints));
  EXPECT_EQ(target_, Kbps(150));
}

TEST_F(WeirNetworkControllerTest, HostileFeedbackIsNoEstimate) {
  Send(TimeDelta::Seconds(5));
  for (const Timestamp time : {Timestamp::PlusInfinity(), Timestamp::MinusInfinity(), Timestamp::Zero()}) {
    webrtc::TransportPacketsFeedback feedback;
    feedback.feedback_time = time;
    for (const int64_t number : {int64_t{-1}, sequence_number_ + 1000, sequence_number_ << 32}) {
      webrtc::PacketResult packet;
      packet.sent_packet.sequence_number = number;
      packet.receive_time = time;
      feedback.packet_feedbacks.push_back(packet);
    }
    Take(controller_->OnTransportPacketsFeedback(feedback));
  }
  Send(TimeDelta::Seconds(15));
  EXPECT_GT(target_, Kbps(700));
  EXPECT_LT(target_, Kbps(1150));
}

// As libwebrtc drives it, with the losses in its feedback.
TEST(WeirNetworkControllerFeedbackTest, LossesLowerTheRate) {
  adapter::SendSideController controller("weir-send", std::move(MakeWeirNetworkControllerFactory({}).value()),
                                         FieldTrials(), adapter::SendSideController::Options{});
  scripted::Call call(controller, {}, weir::Timestamp::Micros(0));
  call.Talk(weir::TimeDelta::Seconds(20));
  const DataRate before = call.LastTarget();
  EXPECT_GT(before, DataRate::KilobitsPerSecond(700));
  call.Talk(weir::TimeDelta::Seconds(5), /*lost=*/true);
  EXPECT_LT(call.LastTarget(), before * 0.7);
}

}  // namespace
}  // namespace weir
