#include "virtual_call/subscriber_connection.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "api/jsep.h"
#include "api/make_ref_counted.h"
#include "api/rtp_transceiver_interface.h"
#include "connection_factory.h"
#include "description_observers.h"
#include "media/base/codec.h"
#include "media/base/media_constants.h"
#include "pc/session_description.h"
#include "programs/input.h"
#include "virtual_call/model_audio.h"
#include "virtual_call/model_video.h"

namespace weir::sim {
namespace {

using webrtc::PeerConnectionInterface;
using webrtc::RTCError;

std::string TextOf(const webrtc::SessionDescriptionInterface& description) {
  std::string text;
  description.ToString(&text);
  return text;
}

// The numbers of each stream, from the SFU's offer and the answer.
std::vector<ForwardedStreamConfig> StreamsOf(const webrtc::SessionDescriptionInterface& offer,
                                             const webrtc::SessionDescriptionInterface& answer) {
  std::vector<ForwardedStreamConfig> streams;
  const auto& offered = offer.description()->contents();
  const auto& answered = answer.description()->contents();
  for (size_t i = 0; i < offered.size(); ++i) {
    ForwardedStreamConfig& stream = streams.emplace_back();
    const webrtc::StreamParams& sent = offered[i].media_description()->streams().at(0);
    stream.ssrc = sent.first_ssrc();
    sent.GetFidSsrc(stream.ssrc, &stream.rtx_ssrc);
    for (const webrtc::Codec& codec : answered[i].media_description()->codecs()) {
      const int payload_type = codec.id;
      const bool is_rtx = codec.GetResiliencyType() == webrtc::Codec::ResiliencyType::kRtx;
      (is_rtx ? stream.rtx_payload_type : stream.payload_type) = static_cast<uint8_t>(payload_type);
    }
    for (const webrtc::RtpExtension& extension : answered[i].media_description()->rtp_header_extensions()) {
      const int id = extension.id;
      if (extension.uri == webrtc::RtpExtension::kTransportSequenceNumberUri)
        stream.transport_cc_id = static_cast<uint8_t>(id);
    }
  }
  return streams;
}

}  // namespace

// One PeerConnection with its threads. Its methods run on the signaling thread.
class SubscriberConnection::End final : public webrtc::PeerConnectionObserver {
 public:
  End(const Config& config, webrtc::EmulatedEndpointImpl* endpoint, const std::string& name) : config_(config) {
    webrtc::TimeController* const time = config.network->time_controller();
    webrtc::EmulatedNetworkManagerInterface* const interface =
        config.network->CreateEmulatedNetworkManagerInterface({endpoint});
    worker_ = time->CreateThread(name);
    runtime_.clock = time->GetClock();
    runtime_.task_queues = time->GetTaskQueueFactory();
    runtime_.signaling_thread = time->GetMainThread();
    runtime_.worker_thread = worker_.get();
    runtime_.network_thread = interface->network_thread();
    runtime_.socket_factory = interface->socket_factory();
    runtime_.network_manager = interface->ReleaseNetworkManager();
    runtime_.encrypted = false;
    runtime_.audio_decoders = MakeModelAudioDecoders();
    runtime_.encoders = MakeModelEncoders(RandomStream(1, 0));
    runtime_.decoders = MakeModelDecoders();
    peer::ConnectionFactoryConfig factory;
    factory.controller = ReceiveSideMode::kGcc;
    factory.runtime = &runtime_;
    factory_ = peer::MakeConnectionFactory(std::move(factory), runtime_.signaling_thread);
    if (factory_ == nullptr) throw ProgramError("libwebrtc cannot be started", kFailed);
  }

  void Open() {
    auto connection = factory_->CreatePeerConnectionOrError(peer::ConnectionConfiguration(),
                                                            webrtc::PeerConnectionDependencies(this));
    if (!connection.ok()) return config_.on_failure(connection.error().message());
    connection_ = connection.MoveValue();
  }

  void AddStreams(size_t count) {
    std::vector<webrtc::RtpCodecCapability> codecs =
        factory_->GetRtpSenderCapabilities(webrtc::MediaType::VIDEO).codecs;
    std::erase_if(codecs, [](const auto& codec) {
      return codec.name != webrtc::kVp8CodecName && codec.name != webrtc::kRtxCodecName;
    });
    webrtc::RtpTransceiverInit send_only;
    send_only.direction = webrtc::RtpTransceiverDirection::kSendOnly;
    for (size_t i = 0; i < count; ++i) {
      const auto transceiver = connection_->AddTransceiver(webrtc::MediaType::VIDEO, send_only);
      if (!transceiver.ok() || !transceiver.value()->SetCodecPreferences(codecs).ok())
        return config_.on_failure("cannot offer a stream");
    }
  }

  void Close() {
    for (const auto& [track, sink] : tracks_) track->RemoveSink(sink);
    tracks_.clear();
    if (connection_ != nullptr) connection_->Close();
    connection_ = nullptr;
  }
  void DestroyFactory() { factory_ = nullptr; }

  PeerConnectionInterface& connection() { return *connection_; }
  bool connected() const { return connected_; }
  const webrtc::SocketAddress& address() const { return address_; }
  void SetOther(End* other) { other_ = other; }
  // Candidates of the other end wait for the description.
  void OnDescribed() {
    described_ = true;
    for (auto& candidate : std::exchange(early_candidates_, {})) AddCandidate(std::move(candidate));
  }

 private:
  void AddCandidate(std::unique_ptr<webrtc::IceCandidate> candidate) {
    if (!described_) {
      early_candidates_.push_back(std::move(candidate));
      return;
    }
    connection_->AddIceCandidate(std::move(candidate), [this](const RTCError& error) {
      if (!error.ok()) config_.on_failure(std::string("candidate: ") + error.message());
    });
  }

  void OnSignalingChange(PeerConnectionInterface::SignalingState) override {}
  void OnDataChannel(webrtc::scoped_refptr<webrtc::DataChannelInterface>) override {}
  void OnIceGatheringChange(PeerConnectionInterface::IceGatheringState) override {}
  void OnIceCandidate(const webrtc::IceCandidate* candidate) override {
    address_ = candidate->candidate().address();
    other_->AddCandidate(webrtc::IceCandidate::Create(candidate->sdp_mid(), candidate->sdp_mline_index(),
                                                      candidate->ToString(), nullptr));
  }
  void OnStandardizedIceConnectionChange(PeerConnectionInterface::IceConnectionState state) override {
    connected_ = connected_ || state == PeerConnectionInterface::kIceConnectionConnected ||
                 state == PeerConnectionInterface::kIceConnectionCompleted;
  }
  void OnTrack(webrtc::scoped_refptr<webrtc::RtpTransceiverInterface> transceiver) override {
    const size_t index = tracks_.size();
    auto* const track = static_cast<webrtc::VideoTrackInterface*>(transceiver->receiver()->track().get());
    track->AddOrUpdateSink(config_.sinks.at(index), webrtc::VideoSinkWants());
    tracks_.emplace_back(track, config_.sinks.at(index));
  }

  const Config& config_;
  std::unique_ptr<webrtc::Thread> worker_;
  peer::Runtime runtime_;
  webrtc::scoped_refptr<webrtc::PeerConnectionFactoryInterface> factory_;
  webrtc::scoped_refptr<PeerConnectionInterface> connection_;
  End* other_ = nullptr;
  bool described_ = false;
  bool connected_ = false;
  webrtc::SocketAddress address_;
  std::vector<std::unique_ptr<webrtc::IceCandidate>> early_candidates_;
  // In the order of the offer's streams.
  std::vector<
      std::pair<webrtc::scoped_refptr<webrtc::VideoTrackInterface>, webrtc::VideoSinkInterface<webrtc::VideoFrame>*>>
      tracks_;
};

SubscriberConnection::SubscriberConnection(Config config)
    : config_(std::move(config)),
      signaling_thread_(config_.network->time_controller()->GetMainThread()),
      sfu_(std::make_unique<End>(config_, config_.sfu, "sfu")),
      subscriber_(std::make_unique<End>(config_, config_.subscriber, "subscriber")) {
  sfu_->SetOther(subscriber_.get());
  subscriber_->SetOther(sfu_.get());
  signaling_thread_->BlockingCall([this] {
    sfu_->Open();
    subscriber_->Open();
  });
}

SubscriberConnection::~SubscriberConnection() {
  signaling_thread_->BlockingCall([this] {
    subscriber_->Close();
    sfu_->Close();
  });
  subscriber_->DestroyFactory();
  sfu_->DestroyFactory();
}

bool SubscriberConnection::connected() const {
  return !streams_.empty() && sfu_->connected() && subscriber_->connected();
}
const webrtc::SocketAddress& SubscriberConnection::sfu_address() const { return sfu_->address(); }
const webrtc::SocketAddress& SubscriberConnection::subscriber_address() const { return subscriber_->address(); }

void SubscriberConnection::Connect() {
  signaling_thread_->PostTask([this] {
    sfu_->AddStreams(config_.sinks.size());
    sfu_->connection().SetLocalDescription(
        webrtc::make_ref_counted<peer::OnLocalDescriptionSet>([this](const RTCError& error) {
          if (!error.ok()) return Fail(error.message());
          OnOffer();
        }));
  });
}

void SubscriberConnection::OnOffer() {
  auto offer =
      webrtc::CreateSessionDescription(webrtc::SdpType::kOffer, TextOf(*sfu_->connection().local_description()));
  subscriber_->connection().SetRemoteDescription(
      std::move(offer), webrtc::make_ref_counted<peer::OnRemoteDescriptionSet>([this](const RTCError& error) {
        if (!error.ok()) return Fail(error.message());
        subscriber_->OnDescribed();
        subscriber_->connection().SetLocalDescription(
            webrtc::make_ref_counted<peer::OnLocalDescriptionSet>([this](const RTCError& fault) {
              if (!fault.ok()) return Fail(fault.message());
              OnAnswer();
            }));
      }));
}

void SubscriberConnection::OnAnswer() {
  answer_ = TextOf(*subscriber_->connection().local_description());
  auto answer = webrtc::CreateSessionDescription(webrtc::SdpType::kAnswer, answer_);
  sfu_->connection().SetRemoteDescription(
      std::move(answer), webrtc::make_ref_counted<peer::OnRemoteDescriptionSet>([this](const RTCError& error) {
        if (!error.ok()) return Fail(error.message());
        sfu_->OnDescribed();
        streams_ = StreamsOf(*sfu_->connection().local_description(), *sfu_->connection().remote_description());
      }));
}

}  // namespace weir::sim
