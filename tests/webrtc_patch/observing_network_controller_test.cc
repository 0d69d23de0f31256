#include "sender/observing_network_controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/environment/environment_factory.h"
#include "api/transport/goog_cc_factory.h"
#include "api/transport/network_types.h"
#include "sender/observation.h"

namespace weir {
namespace {

using webrtc::NetworkControlUpdate;

webrtc::DataRate Kbps(int64_t kbps) { return webrtc::DataRate::KilobitsPerSec(kbps); }

webrtc::NetworkControllerConfig Config() {
  webrtc::NetworkControllerConfig config(webrtc::CreateEnvironment());
  config.constraints.at_time = webrtc::Timestamp::Seconds(100);
  config.constraints.min_data_rate = Kbps(30);
  config.constraints.max_data_rate = Kbps(3000);
  config.constraints.starting_rate = Kbps(300);
  return config;
}

// The targets, paces and probes of an update, as text.
std::string ToText(const NetworkControlUpdate& update) {
  std::string text;
  if (update.target_rate) text += " target " + std::to_string(update.target_rate->target_rate.bps());
  if (update.pacer_config) text += " pace " + std::to_string(update.pacer_config->data_rate().bps());
  if (update.congestion_window) text += " window";
  for (const auto& probe : update.probe_cluster_configs)
    text += " probe " + std::to_string(probe.target_data_rate.bps());
  return text;
}

// A path of 1 Mbps with a queue, over which packets are sent at the target of the controller.
class Call {
 public:
  explicit Call(std::unique_ptr<webrtc::NetworkControllerInterface> controller) : controller_(std::move(controller)) {
    webrtc::NetworkAvailability available;
    available.at_time = now_;
    available.network_available = true;
    Take(controller_->OnNetworkAvailability(available));
  }

  void Run(webrtc::TimeDelta duration) {
    constexpr webrtc::TimeDelta kStep = webrtc::TimeDelta::Millis(5);
    const webrtc::DataSize size = webrtc::DataSize::Bytes(1200);
    for (const webrtc::Timestamp end = now_ + duration; now_ < end; now_ += kStep) {
      for (; next_send_ <= now_; next_send_ += size / target_) {
        webrtc::PacketResult packet;
        packet.sent_packet.send_time = now_;
        packet.sent_packet.size = size;
        packet.sent_packet.sequence_number = ++sequence_number_;
        Take(controller_->OnSentPacket(packet.sent_packet));
        free_ = std::max(free_, now_) + size / Kbps(1000);
        packet.receive_time = free_ + webrtc::TimeDelta::Millis(20);
        in_flight_.push_back(packet);
      }
      if (now_.ms() % 50 == 0) Feedback();
      if (now_.ms() % 25 == 0) Take(controller_->OnProcessInterval({.at_time = now_}));
    }
  }

  webrtc::DataRate target() const { return target_; }
  std::optional<webrtc::DataSize> window() const { return window_; }
  // All updates that changed anything.
  const std::vector<std::string>& updates() const { return updates_; }

 private:
  void Take(const NetworkControlUpdate& update) {
    if (update.target_rate) target_ = update.target_rate->target_rate;
    if (update.congestion_window) window_ = update.congestion_window;
    if (std::string text = ToText(update); !text.empty()) updates_.push_back(std::move(text));
  }

  void Feedback() {
    webrtc::TransportPacketsFeedback feedback;
    feedback.feedback_time = now_;
    const auto arrived = [this](const webrtc::PacketResult& packet) {
      return packet.receive_time <= now_ - webrtc::TimeDelta::Millis(20);
    };
    while (!in_flight_.empty() && arrived(in_flight_.front())) {
      feedback.packet_feedbacks.push_back(in_flight_.front());
      in_flight_.erase(in_flight_.begin());
    }
    if (!feedback.packet_feedbacks.empty()) Take(controller_->OnTransportPacketsFeedback(feedback));
  }

  const std::unique_ptr<webrtc::NetworkControllerInterface> controller_;
  webrtc::Timestamp now_ = webrtc::Timestamp::Seconds(100);
  webrtc::Timestamp next_send_ = now_;
  webrtc::Timestamp free_ = now_;
  int64_t sequence_number_ = 0;
  std::vector<webrtc::PacketResult> in_flight_;
  std::vector<std::string> updates_;
  webrtc::DataRate target_ = Kbps(300);
  std::optional<webrtc::DataSize> window_;
};

std::unique_ptr<webrtc::NetworkControllerInterface> Make(ObservingNetworkControllerOptions options) {
  return MakeObservingNetworkControllerFactory(std::move(options)).value()->Create(Config());
}

TEST(ObservingNetworkControllerTest, AnObserverChangesNoUpdateOfGoogCc) {
  Call observed(Make({}));
  Call alone(webrtc::GoogCcNetworkControllerFactory().Create(Config()));
  observed.Run(webrtc::TimeDelta::Seconds(20));
  alone.Run(webrtc::TimeDelta::Seconds(20));
  EXPECT_GT(alone.updates().size(), 50u);
  EXPECT_EQ(observed.updates(), alone.updates());
}

TEST(ObservingNetworkControllerTest, EachSecondHasBothTargetsAndWhatArrived) {
  std::vector<Observation> observations;
  Call call(Make({.on_observation = [&](const Observation& observation) { observations.push_back(observation); }}));
  call.Run(webrtc::TimeDelta::Seconds(20));
  ASSERT_GE(observations.size(), 19u);
  ASSERT_LE(observations.size(), 21u);
  const Observation& last = observations.back();
  EXPECT_FALSE(last.weir_is_in_charge);
  ASSERT_TRUE(last.other_target);
  // The call has gone on for up to a second.
  EXPECT_NEAR(static_cast<double>(last.other_target->bps()), static_cast<double>(call.target().bps()), 1e5);
  EXPECT_GT(last.weir.target_rate.bps(), 300'000);
  EXPECT_LT(last.weir.target_rate.bps(), 3'000'000);
  EXPECT_GT(last.weir.last_second.receive_rate.bps(), 300'000);
  EXPECT_EQ(observations[5].at_time - observations[4].at_time, TimeDelta::Seconds(1));
}

TEST(ObservingNetworkControllerTest, ASwitchPutsTheOtherControllersRatesInForceWithTheNextMessage) {
  bool weir_in_charge = false;
  std::vector<Observation> observations;
  Call call(Make({.is_weir_in_charge = [&] { return weir_in_charge; },
                  .on_observation = [&](const Observation& observation) { observations.push_back(observation); }}));
  call.Run(webrtc::TimeDelta::Seconds(10));
  const size_t before = call.updates().size();
  weir_in_charge = true;
  call.Run(webrtc::TimeDelta::Millis(25));
  ASSERT_GT(call.updates().size(), before);
  // Everything that is in force, but no probe.
  EXPECT_NE(call.updates()[before].find("target"), std::string::npos);
  EXPECT_NE(call.updates()[before].find("pace"), std::string::npos);
  EXPECT_NE(call.updates()[before].find("window"), std::string::npos);
  EXPECT_EQ(call.updates()[before].find("probe"), std::string::npos);
  call.Run(webrtc::TimeDelta::Seconds(10));
  EXPECT_TRUE(observations.back().weir_is_in_charge);
  EXPECT_EQ(call.target().bps(), observations.back().weir.target_rate.bps());
  ASSERT_TRUE(call.window());
  EXPECT_TRUE(call.window()->IsFinite());
  weir_in_charge = false;
  call.Run(webrtc::TimeDelta::Millis(25));
  // GoogCC has no window.
  EXPECT_TRUE(call.window()->IsInfinite());
  EXPECT_EQ(call.target().bps(), observations.back().other_target->bps());
}

TEST(ObservingNetworkControllerTest, AnInvalidObjectiveIsAnError) {
  EXPECT_FALSE(MakeObservingNetworkControllerFactory({.weir = {.objective = {-1, 1, 1}}}).ok());
}

// plugins/pion/observe/observe_test.go has the same values.
TEST(ObservationTest, TheShareOfAnIdentifierIsTheSameInEveryProgram) {
  for (const auto& [connection, share] :
       {std::pair{"", 0.889416}, std::pair{"PA_1", 0.788968}, std::pair{"call 7", 0.576163}}) {
    EXPECT_TRUE(IsInShare(connection, share + 1e-6));
    EXPECT_FALSE(IsInShare(connection, share - 1e-6));
  }
  EXPECT_FALSE(IsInShare("PA_1", 0));
  EXPECT_TRUE(IsInShare("PA_1", 1));
}

TEST(ObservationTest, LinesAreJson) {
  EXPECT_EQ(FirstLine(Timestamp::Micros(5), "a \"b\"\n", "host", "gcc"),
            R"({"type":"log","begin_us":5,"feedback":"transport-cc","connection":"a \"b\"?","host":"host",)"
            R"("other":"gcc"})");
  Observation observation;
  observation.at_time = Timestamp::Micros(7);
  observation.weir.target_rate = DataRate::BitsPerSecond(300'000);
  observation.weir.last_second = {.receive_rate = DataRate::BitsPerSecond(200'000),
                                  .queueing_delay = TimeDelta::Micros(1'250),
                                  .loss_ratio = 0.0125};
  EXPECT_EQ(ObservationLine(observation, "gcc"),
            R"({"type":"observation","time_us":7,"in_charge":"gcc","other_bps":null,"weir_bps":300000,)"
            R"("weir_reason":"start","received_bps":200000,"loss_ratio":0.012500,"queueing_delay_ms":1.250})");
  EXPECT_EQ(ViewerLine(Timestamp::Micros(9), 2, TimeDelta::Micros(50)),
            R"({"type":"viewer","time_us":9,"freezes":2,"frozen_ms":0.050})");
}

}  // namespace
}  // namespace weir
