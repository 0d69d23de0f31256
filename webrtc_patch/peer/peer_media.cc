// The media of Peer: sent and received tracks, codec and bitrate.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "peer.h"
#include "video_track_source.h"

namespace weir::peer {
namespace {

using webrtc::RtpTransceiverDirection;
using webrtc::RtpTransceiverInterface;

constexpr char kStreamId[] = "weir";

}  // namespace

std::optional<Error> Peer::AddLocalMedia(std::unique_ptr<FrameSource> frames) {
  const auto source = VideoTrackSource::Create(std::move(frames));
  const auto video = connection_->AddTrack((*factory_)->CreateVideoTrack("video", source.get()), {kStreamId});
  if (!video.ok()) return Error{std::string("cannot send video: ") + video.error().message()};
  if (!options_.audio) return std::nullopt;
  const auto audio_source = (*factory_)->CreateAudioSource(cricket::AudioOptions());
  const auto audio = connection_->AddTrack((*factory_)->CreateAudioTrack("audio", audio_source.get()), {kStreamId});
  if (!audio.ok()) return Error{std::string("cannot send audio: ") + audio.error().message()};
  return std::nullopt;
}

std::optional<Error> Peer::Prepare(RtpTransceiverInterface& transceiver) {
  const bool is_audio = transceiver.media_type() == cricket::MEDIA_TYPE_AUDIO;
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
                                                   ? (*factory_)->GetRtpReceiverCapabilities(cricket::MEDIA_TYPE_VIDEO)
                                                   : (*factory_)->GetRtpSenderCapabilities(cricket::MEDIA_TYPE_VIDEO);
  std::vector<webrtc::RtpCodecCapability> codecs = capabilities.codecs;
  const auto others = std::stable_partition(codecs.begin(), codecs.end(),
                                            [this](const auto& codec) { return codec.name == options_.codec; });
  if (others == codecs.begin()) return Error{"this libwebrtc has no " + options_.codec};
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
    if (sender->media_type() != cricket::MEDIA_TYPE_VIDEO) continue;
    // By default the encoder stops at libwebrtc's limit for the picture's size.
    webrtc::RtpParameters parameters = sender->GetParameters();
    if (parameters.encodings.empty()) continue;
    for (auto& encoding : parameters.encodings) encoding.max_bitrate_bps = static_cast<int>(max_send_rate_.bps());
    if (const auto error = sender->SetParameters(parameters); !error.ok())
      Refuse(std::string("bitrate: ") + error.message());
  }
}

void Peer::OnTrack(rtc::scoped_refptr<RtpTransceiverInterface> transceiver) {
  if (transceiver->media_type() != cricket::MEDIA_TYPE_VIDEO || received_frames_ == nullptr || remote_track_ != nullptr)
    return;
  remote_track_ = rtc::scoped_refptr<webrtc::VideoTrackInterface>(
      static_cast<webrtc::VideoTrackInterface*>(transceiver->receiver()->track().get()));
  remote_track_->AddOrUpdateSink(received_frames_.get(), rtc::VideoSinkWants());
}

}  // namespace weir::peer
