// The media of Peer: sent and received tracks, codec and bitrate.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/make_ref_counted.h"
#include "api/video/video_frame.h"
#include "frame_source.h"
#include "media/base/adapted_video_track_source.h"
#include "peer.h"
#include "program/monotonic_clock.h"

namespace weir::peer {
namespace {

using webrtc::RtpTransceiverDirection;
using webrtc::RtpTransceiverInterface;

constexpr char kStreamId[] = "weir";

// A frame source as a camera: its pictures in real time, reduced in size and rate as the encoder asks. It starts at
// once, on its own thread, and stops when destroyed. If the machine is too slow, pictures are dropped: picture n is
// that of time n / frames_per_second.
class VideoTrackSource : public webrtc::AdaptedVideoTrackSource {
 public:
  ~VideoTrackSource() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    stopped_.notify_all();
    thread_.join();
  }
  VideoTrackSource(const VideoTrackSource&) = delete;
  VideoTrackSource& operator=(const VideoTrackSource&) = delete;

  SourceState state() const override { return kLive; }
  bool remote() const override { return false; }
  bool is_screencast() const override { return false; }
  std::optional<bool> needs_denoising() const override { return false; }

 protected:
  explicit VideoTrackSource(std::unique_ptr<FrameSource> frames)
      : frames_(std::move(frames)), thread_([this] { Run(); }) {}

 private:
  void Run() {
    using Clock = std::chrono::steady_clock;
    const std::chrono::duration<double> period(1.0 / frames_->format().frames_per_second);
    const Clock::time_point start = Clock::now();
    int64_t index = 0;
    std::unique_lock lock(mutex_);
    while (true) {
      const auto due = start + std::chrono::duration_cast<Clock::duration>(period * static_cast<double>(index));
      if (stopped_.wait_until(lock, due, [this] { return stop_; })) return;
      lock.unlock();
      Deliver(index);
      lock.lock();
      const auto elapsed = static_cast<int64_t>((Clock::now() - start) / period);
      index = std::max(index + 1, elapsed);
    }
  }

  void Deliver(int64_t index) {
    const int64_t now_us = MonotonicMicros();
    const FrameFormat& format = frames_->format();
    int width = 0;
    int height = 0;
    int crop_width = 0;
    int crop_height = 0;
    int crop_x = 0;
    int crop_y = 0;
    if (!AdaptFrame(format.width, format.height, now_us, &width, &height, &crop_width, &crop_height, &crop_x, &crop_y))
      return;
    webrtc::scoped_refptr<webrtc::I420Buffer> picture = frames_->Frame(index);
    if (picture == nullptr) return;
    if (width != format.width || height != format.height) {
      auto scaled = webrtc::I420Buffer::Create(width, height);
      scaled->CropAndScaleFrom(*picture, crop_x, crop_y, crop_width, crop_height);
      picture = std::move(scaled);
    }
    OnFrame(webrtc::VideoFrame::Builder().set_video_frame_buffer(picture).set_timestamp_us(now_us).build());
  }

  const std::unique_ptr<FrameSource> frames_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace

std::optional<Error> Peer::AddLocalMedia(std::unique_ptr<FrameSource> frames) {
  const auto source = webrtc::make_ref_counted<VideoTrackSource>(std::move(frames));
  const auto video = connection_->AddTrack(factory_->CreateVideoTrack(source, "video"), {kStreamId});
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
    // By default the encoder stops at libwebrtc's limit for the picture's size.
    webrtc::RtpParameters parameters = sender->GetParameters();
    if (parameters.encodings.empty()) continue;
    for (auto& encoding : parameters.encodings) encoding.max_bitrate_bps = static_cast<int>(max_send_rate_.bps());
    if (const auto error = sender->SetParameters(parameters); !error.ok())
      Refuse(std::string("bitrate: ") + error.message());
  }
}

void Peer::OnTrack(webrtc::scoped_refptr<RtpTransceiverInterface> transceiver) {
  if (transceiver->media_type() != webrtc::MediaType::VIDEO || received_frames_ == nullptr || remote_track_ != nullptr)
    return;
  remote_track_ = webrtc::scoped_refptr<webrtc::VideoTrackInterface>(
      static_cast<webrtc::VideoTrackInterface*>(transceiver->receiver()->track().get()));
  remote_track_->AddOrUpdateSink(received_frames_.get(), webrtc::VideoSinkWants());
}

}  // namespace weir::peer
