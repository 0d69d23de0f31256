// Media part of Peer: sent and received tracks, codec and bitrate.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/make_ref_counted.h"
#include "camera.h"
#include "media/base/media_constants.h"
#include "peer.h"

namespace weir::peer {
namespace {

using webrtc::RtpTransceiverDirection;
using webrtc::RtpTransceiverInterface;

constexpr char kStreamId[] = "weir";

}  // namespace

std::optional<Error> Peer::AddLocalMedia(std::unique_ptr<FrameSource> frames) {
  camera_ = webrtc::make_ref_counted<Camera>(std::move(frames), runtime_.camera, runtime_.clock, runtime_.task_queues);
  camera_->SetCapturing(runtime_.sends_at_once);
  const auto video = connection_->AddTrack(factory_->CreateVideoTrack(camera_, "video"), {kStreamId});
  if (!video.ok()) return Error{std::string("cannot send video: ") + video.error().message()};
  if (!options_.audio) return std::nullopt;
  const auto audio_source = factory_->CreateAudioSource(webrtc::AudioOptions());
  const auto audio = connection_->AddTrack(factory_->CreateAudioTrack("audio", audio_source.get()), {kStreamId});
  if (!audio.ok()) return Error{std::string("cannot send audio: ") + audio.error().message()};
  return std::nullopt;
}

std::optional<Error> Peer::Prepare(RtpTransceiverInterface& transceiver) {
  const bool is_audio = transceiver.media_type() == webrtc::MediaType::AUDIO;
  const bool sends = options_.send && transceiver.sender()->track() != nullptr;
  const bool receives = options_.receive && (!is_audio || options_.audio);
  const webrtc::RTCError error =
      transceiver.SetDirectionWithError(sends && receives ? RtpTransceiverDirection::kSendRecv
                                        : sends           ? RtpTransceiverDirection::kSendOnly
                                        : receives        ? RtpTransceiverDirection::kRecvOnly
                                                          : RtpTransceiverDirection::kInactive);
  if (!error.ok()) return Error{std::string("cannot set up media: ") + error.message()};
  return is_audio ? std::nullopt : PreferCodec(transceiver);
}

std::optional<Error> Peer::PreferCodec(RtpTransceiverInterface& transceiver) {
  const webrtc::RtpCapabilities capabilities = options_.receive
                                                   ? factory_->GetRtpReceiverCapabilities(webrtc::MediaType::VIDEO)
                                                   : factory_->GetRtpSenderCapabilities(webrtc::MediaType::VIDEO);
  std::vector<webrtc::RtpCodecCapability> codecs = capabilities.codecs;
  const auto others = std::stable_partition(codecs.begin(), codecs.end(),
                                            [this](const auto& codec) { return codec.name == options_.codec; });
  if (others == codecs.begin()) return Error{"this libwebrtc has no " + options_.codec};
  if (options_.receive && !accepts_fec_) {
    std::erase_if(codecs, [](const auto& codec) {
      return codec.name == webrtc::kRedCodecName || codec.name == webrtc::kUlpfecCodecName ||
             codec.name == webrtc::kFlexfecCodecName;
    });
  }
  const webrtc::RTCError error = transceiver.SetCodecPreferences(codecs);
  if (!error.ok()) return Error{"cannot prefer " + options_.codec + ": " + error.message()};
  return std::nullopt;
}

void Peer::SetSendBitrate(const TargetRateConstraints& bitrate, bool restart) {
  webrtc::BitrateSettings settings;
  settings.min_bitrate_bps = static_cast<int>(bitrate.min_rate.bps());
  settings.max_bitrate_bps = static_cast<int>(bitrate.max_rate.bps());
  if (restart) settings.start_bitrate_bps = static_cast<int>(bitrate.start_rate.bps());
  if (const auto error = connection_->SetBitrate(settings); !error.ok())
    return Refuse(std::string("bitrate: ") + error.message());
  max_send_rate_ = bitrate.max_rate;
  SetMaxEncodingBitrate();
}

void Peer::SetMaxEncodingBitrate() {
  for (const auto& sender : connection_->GetSenders()) {
    if (sender->media_type() != webrtc::MediaType::VIDEO) continue;
    // By default libwebrtc limits the encoder according to the picture's size.
    webrtc::RtpParameters parameters = sender->GetParameters();
    if (parameters.encodings.empty()) continue;
    const DataRate max_rate = runtime_.max_encoder_rate.IsZero() ? max_send_rate_ : runtime_.max_encoder_rate;
    for (auto& encoding : parameters.encodings) encoding.max_bitrate_bps = static_cast<int>(max_rate.bps());
    if (const auto error = sender->SetParameters(parameters); !error.ok())
      Refuse(std::string("bitrate: ") + error.message());
  }
}

void Peer::OnTrack(webrtc::scoped_refptr<RtpTransceiverInterface> transceiver) {
  if (transceiver->media_type() != webrtc::MediaType::VIDEO || remote_track_ != nullptr) return;
  remote_track_ = webrtc::scoped_refptr<webrtc::VideoTrackInterface>(
      static_cast<webrtc::VideoTrackInterface*>(transceiver->receiver()->track().get()));
  for (auto* const sink : FrameSinks()) remote_track_->AddOrUpdateSink(sink, webrtc::VideoSinkWants());
}

std::vector<webrtc::VideoSinkInterface<webrtc::VideoFrame>*> Peer::FrameSinks() const {
  std::vector<webrtc::VideoSinkInterface<webrtc::VideoFrame>*> sinks;
  if (received_frames_ != nullptr) sinks.push_back(received_frames_.get());
  if (runtime_.frame_sink != nullptr) sinks.push_back(runtime_.frame_sink);
  return sinks;
}

void Peer::HoldMedia(bool hold) {
  signaling_thread_->PostTask(WhileAlive([this, hold] {
    if (camera_ != nullptr) camera_->SetCapturing(!hold);
    for (const auto& sender : connection_->GetSenders()) {
      webrtc::RtpParameters parameters = sender->GetParameters();
      for (auto& encoding : parameters.encodings) encoding.active = !hold;
      if (const auto error = sender->SetParameters(parameters); !error.ok())
        Refuse(std::string("hold: ") + error.message());
    }
  }));
}

void Peer::HoldVideo(bool hold) {
  if (camera_ != nullptr) camera_->SetCapturing(!hold);
}

}  // namespace weir::peer
