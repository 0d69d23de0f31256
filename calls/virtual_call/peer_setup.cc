#include "virtual_call/peer_setup.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "api/video_codecs/builtin_video_encoder_factory.h"
#include "virtual_call/call_streams.h"
#include "virtual_call/model_audio.h"
#include "virtual_call/model_video.h"
#include "virtual_call/opus_audio.h"

namespace weir::sim {
namespace {

// Above any rate that a sender would choose.
constexpr DataRate kMaxRate = DataRate::KilobitsPerSecond(20'000);
constexpr double kCameraFramesPerSecond = 30;
constexpr double kSpeechPacketsPerSecond = 50;
// Reports are made only on request.
constexpr int64_t kNoStatsMs = 1'000'000'000;

// Adds the files of rendered video and played audio.
void KeepReceived(const Flow& flow, peer::Options& options) {
  const CallMedia& media = flow.job.call;
  const std::string file = media.received + "/" + std::to_string(flow.index);
  options.frames = file + ".y4m";
  options.frames_width = media.width;
  options.frames_height = media.height;
  if (options.audio) options.received_audio = file + ".wav";
}

}  // namespace

double CaptureRate(const MediaSpec& media) {
  const double rate = media.frames_per_second;
  return rate > 0 ? std::min(rate, kCameraFramesPerSecond) : kCameraFramesPerSecond;
}

bool KeepsReceived(const Flow& flow) { return !flow.job.call.received.empty() && flow.is_under_test(); }

bool HasSteadyAudio(const Flow& flow) {
  const RtpSpec& rtp = flow.rtp();
  const double packets_per_second = rtp.media.audio_packets_per_second;
  return KeepsReceived(flow) || (rtp.pauses.empty() && flow.spec().stop >= flow.job.scenario.end() &&
                                 (packets_per_second == 0 || packets_per_second >= kSpeechPacketsPerSecond));
}

peer::Options MakePeerOptions(CallEnd end, const Flow& flow, const CallController& controller) {
  const RtpSpec& rtp = flow.rtp();
  const CallMedia& media = flow.job.call;
  peer::Options options;
  options.audio = !rtp.media.audio_rate.IsZero();
  options.codec = media.encoder == CallMedia::Encoder::kVp9 ? "VP9" : "VP8";
  options.objective = flow.objective;
  options.bitrate = {
      .min_rate = rtp.min_rate, .start_rate = rtp.start_rate, .max_rate = std::max(rtp.media.max_rate, rtp.start_rate)};
  // Chromium's limit is the encoder's.
  if (!media.native_sender) options.bitrate.max_rate = std::max(options.bitrate.max_rate, kMaxRate);
  options.stats_interval_ms = kNoStatsMs;
  options.repair = static_cast<peer::RepairMode>(media.repair);
  controller.Select(end, options);
  if (end == CallEnd::kSender) {
    options.send = true;
    if (KeepsReceived(flow)) options.audio_file = media.speech;
  } else {
    options.receive = true;
    options.limit_playout = controller.ReceiverLimitsPlayout(media.playout);
    if (KeepsReceived(flow)) KeepReceived(flow, options);
  }
  return options;
}

std::unique_ptr<peer::FrameSource> MakePictures(const Flow& flow) {
  const CallMedia& media = flow.job.call;
  const peer::FrameFormat format{
      .width = media.width, .height = media.height, .frames_per_second = CaptureRate(flow.rtp().media)};
  if (media.encoder == CallMedia::Encoder::kFake) return MakeBlankPictures(format);
  return media.video.empty() ? peer::MakePattern(format) : peer::OpenY4mFile(media.video);
}

void SetCodecs(const Flow& flow, peer::Runtime& runtime) {
  const MediaSpec& media = flow.rtp().media;
  const DataRate audio_rate = media.audio_rate;
  if (KeepsReceived(flow)) {
    runtime.audio_encoders = MakeOpusEncoders(audio_rate);
    runtime.frames_written_at_once = true;
  } else {
    const double packets_per_second =
        media.audio_packets_per_second > 0 ? media.audio_packets_per_second : kSpeechPacketsPerSecond;
    runtime.audio_encoders = MakeModelAudioEncoders(audio_rate, packets_per_second, flow.Random(kAudioStream));
    runtime.audio_decoders = MakeModelAudioDecoders();
    runtime.decoders = MakeModelDecoders();
  }
}

std::unique_ptr<webrtc::VideoEncoderFactory> MakeEncoders(const Flow& flow) {
  if (flow.job.call.encoder == CallMedia::Encoder::kFake) return MakeModelEncoders(flow.Random(kEncoderStream));
  return webrtc::CreateBuiltinVideoEncoderFactory();
}

std::string LogPath(const char* variable, const Flow& flow, std::string_view extension) {
  const char* const folder = std::getenv(variable);
  if (folder == nullptr || *folder == '\0' || !flow.is_under_test()) return {};
  std::string name = flow.job.scenario.name + "-" + flow.controller + "-" + std::to_string(flow.job.seed) + "-" +
                     std::to_string(flow.index);
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_'; }, '_');
  return std::string(folder) + "/" + name + std::string(extension);
}

}  // namespace weir::sim
