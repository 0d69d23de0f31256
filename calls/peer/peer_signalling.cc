// Signalling part of Peer: session descriptions and candidates.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "api/make_ref_counted.h"
#include "description_observers.h"
#include "peer.h"
#include "rate_controllers.h"
#include "sdp.h"

namespace weir::peer {
namespace {

using webrtc::RTCError;
using webrtc::RTCErrorOr;
using webrtc::SdpType;
using webrtc::SessionDescriptionInterface;

constexpr size_t kMaxEarlyCandidates = 64;

// Calls a function on the signaling thread.
class OnDescriptionCreated : public webrtc::CreateSessionDescriptionObserver {
 public:
  using Function = std::function<void(RTCErrorOr<std::unique_ptr<SessionDescriptionInterface>>)>;
  explicit OnDescriptionCreated(Function function) : function_(std::move(function)) {}
  void OnSuccess(SessionDescriptionInterface* description) override {
    function_(std::unique_ptr<SessionDescriptionInterface>(description));
  }
  void OnFailure(RTCError error) override { function_(std::move(error)); }

 private:
  const Function function_;
};

}  // namespace

void Peer::Run(const StartCommand&) {
  if (connection_->local_description() != nullptr || has_remote_description_)
    return Refuse("start: the call has begun already");
  if (!options_.send) {
    webrtc::RtpTransceiverInit receive_only;
    receive_only.direction = webrtc::RtpTransceiverDirection::kRecvOnly;
    connection_->AddTransceiver(webrtc::MediaType::VIDEO, receive_only);
    if (options_.audio) connection_->AddTransceiver(webrtc::MediaType::AUDIO, receive_only);
  }
  MakeDescription(SdpType::kOffer);
}

void Peer::RestartIce() {
  has_remote_description_ = false;
  connection_->RestartIce();
  MakeDescription(SdpType::kOffer);
}

void Peer::OnRepair(Repair repair) {
  if (repair_.exchange(repair) == repair || repair == Repair::kNone) return;
  signaling_thread_->PostTask(WhileAlive([this, wants_fec = repair == Repair::kFec] {
    wants_fec_ = wants_fec;
    RenegotiateFec();
  }));
}

void Peer::RenegotiateFec() {
  using State = webrtc::PeerConnectionInterface::SignalingState;
  // Otherwise OnNegotiated() calls this again.
  if (wants_fec_ == accepts_fec_ || connection_->signaling_state() != State::kStable) return;
  accepts_fec_ = wants_fec_;
  renegotiated_ = true;
  MakeDescription(SdpType::kOffer);
}

void Peer::MakeDescription(SdpType type) {
  for (const auto& transceiver : connection_->GetTransceivers()) {
    if (const auto fault = Prepare(*transceiver)) return Fail(fault->message);
  }
  const auto observer = webrtc::make_ref_counted<OnDescriptionCreated>(
      WhileAlive([this, type](RTCErrorOr<std::unique_ptr<SessionDescriptionInterface>> description) {
        if (!description.ok()) return Fail(std::string("no description: ") + description.error().message());
        using State = webrtc::PeerConnectionInterface::SignalingState;
        // The other end's offer came first. Its answer accepts FEC or not as this offer would have.
        if (type == SdpType::kOffer && connection_->signaling_state() != State::kStable) return;
        SetLocalDescription(description.MoveValue());
      }));
  const webrtc::PeerConnectionInterface::RTCOfferAnswerOptions options;
  if (type == SdpType::kOffer) {
    connection_->CreateOffer(observer.get(), options);
  } else {
    connection_->CreateAnswer(observer.get(), options);
  }
}

void Peer::SetLocalDescription(std::unique_ptr<SessionDescriptionInterface> description) {
  const SdpType type = description->GetType();
  const bool sender_follows_remb = options_.receive && receive_side_->mode() == ReceiveSideMode::kWeir;
  // With transport-cc the sender runs GCC in addition to REMB.
  const bool sender_has_gcc = !options_.remb_alone || (options_.pool && options_.pool->sender_has_gcc);
  if (sender_follows_remb && !sender_has_gcc) RemoveTransportCc(*description);
  // In DTLS 1.2 the server is ready to send before the client: the first REMB arrives before media is sent. In DTLS
  // 1.3 the client is ready first: the first frame is sent earlier, and REMB arrives a round trip after it.
  if (sender_follows_remb && type == SdpType::kAnswer) BecomeDtlsServer(*description);
  const std::unique_ptr<SessionDescriptionInterface> sent = description->Clone();
  // A weir-peer follows REMB at once without it; the first REMB arrives before media.
  if (sender_follows_remb && (type == SdpType::kAnswer || renegotiated_) && !remote_is_peer_) {
    // A start bitrate in a later description would begin the sender's estimate again.
    const int64_t start_kbps = sender_has_gcc ? kStartRateOfReceiver.bps() / 1000 : kMaxBitrateKbps;
    SetBitrates(*sent, renegotiated_ ? std::nullopt : std::optional(start_kbps));
  }
  connection_->SetLocalDescription(std::move(description),
                                   webrtc::make_ref_counted<OnLocalDescriptionSet>(
                                       WhileAlive([this, type, sdp = TextWithTool(*sent)](const RTCError& error) {
                                         if (!error.ok())
                                           return Fail(std::string("the description was rejected: ") + error.message());
                                         lines_->Write({{"type", webrtc::SdpTypeToString(type)}, {"sdp", sdp}});
                                         if (type == SdpType::kAnswer) OnNegotiated();
                                       })));
}

void Peer::Run(const DescriptionCommand& command) {
  const SdpType type = command.is_offer ? SdpType::kOffer : SdpType::kAnswer;
  const std::string name = webrtc::SdpTypeToString(type);
  using State = webrtc::PeerConnectionInterface::SignalingState;
  // A second offer restarts ICE, or changes the codecs.
  const State expected = command.is_offer ? State::kStable : State::kHaveLocalOffer;
  if (connection_->signaling_state() != expected)
    return Refuse(name + ": it does not match the state of the negotiation");
  // Candidates wait for the description.
  if (command.is_offer) has_remote_description_ = false;
  webrtc::SdpParseError fault;
  auto description = webrtc::CreateSessionDescription(type, command.sdp, &fault);
  if (description == nullptr) return Refuse(name + ": " + fault.description + ", at \"" + fault.line + "\"");
  remote_is_peer_ = HasTool(command.sdp);
  connection_->SetRemoteDescription(std::move(description), webrtc::make_ref_counted<OnRemoteDescriptionSet>(
                                                                WhileAlive([this, type, name](const RTCError& error) {
                                                                  if (!error.ok())
                                                                    return Refuse(name + ": " + error.message());
                                                                  OnRemoteDescription(type);
                                                                })));
}

void Peer::OnRemoteDescription(SdpType type) {
  has_remote_description_ = true;
  for (auto& candidate : std::exchange(early_candidates_, {})) AddCandidate(std::move(candidate));
  FailUnless([this] { return was_connected_; }, kConnectTime, "no connection");
  if (type == SdpType::kOffer) return MakeDescription(SdpType::kAnswer);
  OnNegotiated();
}

void Peer::OnNegotiated() {
  if (options_.send) SetMaxEncodingBitrate();
  if (receive_side_ == nullptr) return;
  // The answer has the payload types that both ends use; additional ones in the offer are harmless.
  for (const auto& [payload_type, kind] : PacketKinds(*connection_->local_description()))
    receive_side_->SetPacketKind(payload_type, kind);
  RenegotiateFec();
}

void Peer::Run(const CandidateCommand& command) {
  if (command.candidate.empty()) return;
  webrtc::SdpParseError fault;
  std::unique_ptr<webrtc::IceCandidate> candidate =
      webrtc::IceCandidate::Create(command.sdp_mid, command.sdp_mline_index, command.candidate, &fault);
  if (candidate == nullptr) return Refuse("candidate: " + fault.description);
  if (has_remote_description_) return AddCandidate(std::move(candidate));
  if (early_candidates_.size() >= kMaxEarlyCandidates) return Refuse("candidate: too many before a description");
  early_candidates_.push_back(std::move(candidate));
}

void Peer::AddCandidate(std::unique_ptr<webrtc::IceCandidate> candidate) {
  connection_->AddIceCandidate(std::move(candidate), WhileAlive([this](const RTCError& error) {
                                 if (!error.ok()) Refuse(std::string("candidate: ") + error.message());
                               }));
}

void Peer::OnIceCandidate(const webrtc::IceCandidate* candidate) {
  lines_->Write({{"type", "candidate"},
                 {"candidate", candidate->ToString()},
                 {"sdpMid", candidate->sdp_mid()},
                 {"sdpMLineIndex", candidate->sdp_mline_index()}});
}

}  // namespace weir::peer
