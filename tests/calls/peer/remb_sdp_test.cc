// The descriptions of a libwebrtc with the patches, while a ReceiveSideSwitch is installed.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "api/jsep.h"
#include "api/make_ref_counted.h"
#include "api/peer_connection_interface.h"
#include "connection_factory.h"
#include "receive_side_switch.h"
#include "rtc_base/null_socket_server.h"
#include "rtc_base/thread.h"
#include "runtime.h"

namespace weir::peer {
namespace {

using webrtc::SdpType;

constexpr char kBitrates[] = "x-google-max-bitrate=20000;x-google-start-bitrate=1000\r\n";

class Created : public webrtc::CreateSessionDescriptionObserver {
 public:
  void OnSuccess(webrtc::SessionDescriptionInterface* description) override {
    const std::unique_ptr<webrtc::SessionDescriptionInterface> owned(description);
    owned->ToString(&sdp);
    done = true;
  }
  void OnFailure(webrtc::RTCError) override { done = true; }

  bool done = false;
  std::string sdp;
};

class Set : public webrtc::SetRemoteDescriptionObserverInterface {
 public:
  void OnSetRemoteDescriptionComplete(webrtc::RTCError error) override { done = error.ok(); }

  bool done = false;
};

class NoEvents final : public webrtc::PeerConnectionObserver {
  void OnSignalingChange(webrtc::PeerConnectionInterface::SignalingState) override {}
  void OnDataChannel(webrtc::scoped_refptr<webrtc::DataChannelInterface>) override {}
  void OnIceGatheringChange(webrtc::PeerConnectionInterface::IceGatheringState) override {}
  void OnIceCandidate(const webrtc::IceCandidate*) override {}
};

class RembSdp : public ::testing::Test {
 protected:
  RembSdp() {
    thread_.WrapCurrent();
    factory_ = MakeConnectionFactory(
        {.field_trials = {{"WebRTC-RFC8888CongestionControlFeedback", "Enabled,offer:true"}}, .runtime = &runtime_},
        &thread_);
  }
  ~RembSdp() override {
    ReceiveSideSwitch::Uninstall();
    factory_ = nullptr;
    thread_.UnwrapCurrent();
  }

  void Install(ReceiveSideSwitchConfig config) {
    switch_ = ReceiveSideSwitch::Create(std::move(config)).value();
    switch_->Install();
  }

  std::string Offer(bool video = true) { return Create(*Connection(video), SdpType::kOffer); }
  std::string Answer(const std::string& offer) {
    const auto connection = Connection(false);
    const auto set = webrtc::make_ref_counted<Set>();
    connection->SetRemoteDescription(webrtc::CreateSessionDescription(SdpType::kOffer, offer), set);
    RunUntil(set->done);
    return Create(*connection, SdpType::kAnswer);
  }

  std::shared_ptr<ReceiveSideSwitch> switch_;

 private:
  webrtc::scoped_refptr<webrtc::PeerConnectionInterface> Connection(bool video) {
    auto connection =
        factory_->CreatePeerConnectionOrError({}, webrtc::PeerConnectionDependencies(&observer_)).MoveValue();
    if (video) connection->AddTransceiver(webrtc::MediaType::VIDEO);
    connection->AddTransceiver(webrtc::MediaType::AUDIO);
    return connection;
  }
  std::string Create(webrtc::PeerConnectionInterface& connection, SdpType type) {
    const auto created = webrtc::make_ref_counted<Created>();
    if (type == SdpType::kOffer) {
      connection.CreateOffer(created.get(), {});
    } else {
      connection.CreateAnswer(created.get(), {});
    }
    RunUntil(created->done);
    return created->sdp;
  }
  // A certificate is made on another thread.
  void RunUntil(const bool& done) {
    for (int i = 0; i < 1'000 && !done; ++i) thread_.ProcessMessages(10);
    ASSERT_TRUE(done);
  }

  webrtc::Thread thread_{std::make_unique<webrtc::NullSocketServer>()};
  Runtime runtime_ = MakeMachineRuntime("127.0.0.1");
  NoEvents observer_;
  webrtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> factory_;
};

bool Has(const std::string& sdp, const std::string& text) { return sdp.find(text) != std::string::npos; }

TEST_F(RembSdp, WithoutASwitchDescriptionsAreLibwebrtcsOwn) {
  const std::string offer = Offer();
  EXPECT_FALSE(Has(offer, "x-google"));
  const std::string answer = Answer(offer);
  EXPECT_FALSE(Has(answer, "x-google"));
  EXPECT_TRUE(Has(answer, "a=setup:active"));
  EXPECT_TRUE(Has(answer, "ack ccfb"));
}

TEST_F(RembSdp, WeirsHaveBitratesAndThePassiveRole) {
  const std::string plain = Offer();
  Install({});
  const std::string offer = Offer();
  EXPECT_TRUE(Has(offer, kBitrates));
  EXPECT_TRUE(Has(offer, "a=setup:actpass"));
  const std::string answer = Answer(plain);
  EXPECT_TRUE(Has(answer, kBitrates));
  EXPECT_TRUE(Has(answer, "goog-remb"));
  EXPECT_TRUE(Has(answer, "a=setup:passive"));
  EXPECT_FALSE(Has(answer, "a=setup:active"));
  EXPECT_FALSE(Has(answer, "ack ccfb"));
  // Neither audio nor retransmissions.
  EXPECT_FALSE(Has(answer.substr(answer.find("m=audio")), "x-google"));
  EXPECT_FALSE(Has(answer, "apt=96;x-google"));
}

TEST_F(RembSdp, ACallWithoutVideoKeepsItsRole) {
  Install({});
  const std::string answer = Answer(Offer(false));
  EXPECT_TRUE(Has(answer, "m=audio"));
  EXPECT_TRUE(Has(answer, "a=setup:active"));
  EXPECT_FALSE(Has(answer, "x-google"));
}

TEST_F(RembSdp, FollowsTheMode) {
  Install({.mode = ReceiveSideMode::kShadow});
  const std::string offer = Offer();
  EXPECT_FALSE(Has(offer, "x-google"));
  switch_->SetMode(ReceiveSideMode::kWeir);
  EXPECT_TRUE(Has(Offer(), kBitrates));
  switch_->SetMode(ReceiveSideMode::kGcc);
  EXPECT_TRUE(Has(Answer(offer), "a=setup:active"));
}

TEST_F(RembSdp, AHostMayChangeThemItself) {
  Install({.changes_sdp = false});
  const std::string answer = Answer(Offer());
  EXPECT_FALSE(Has(answer, "x-google"));
  EXPECT_TRUE(Has(answer, "a=setup:active"));
}

}  // namespace
}  // namespace weir::peer
