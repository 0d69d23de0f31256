// weir-encode: encodes video at given rates with an encoder of virtual calls, without a call.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "api/environment/environment_factory.h"
#include "api/video/video_bitrate_allocation.h"
#include "api/video_codecs/builtin_video_encoder_factory.h"
#include "frame_source.h"
#include "libwebrtc_globals.h"
#include "modules/video_coding/include/video_error_codes.h"
#include "programs/command_line.h"
#include "programs/json.h"
#include "virtual_call/model_video.h"

namespace weir::sim {
namespace {

constexpr uint32_t kVideoClockHz = 90'000;
constexpr NumberRange kBitrateRangeBps{.min = 1, .max = 1e8};
constexpr size_t kMaxRates = 10'000;

// The encoded frames in the order of capture. A dropped frame has 0 bytes.
class Frames final : public webrtc::EncodedImageCallback {
 public:
  Result OnEncodedImage(const webrtc::EncodedImage& image, const webrtc::CodecSpecificInfo*) override {
    bytes_.push_back(image.size());
    qp_.push_back(image.qp_);
    key_frame_.push_back(image.IsKey() ? 1 : 0);
    return Result(Result::OK);
  }
  void OnFrameDropped(uint32_t, int, bool) override {}
  // Adds a dropped frame if the encoder produced none.
  void Complete(size_t captured) {
    if (bytes_.size() >= captured) return;
    bytes_.push_back(0);
    qp_.push_back(-1);
    key_frame_.push_back(0);
  }
  nlohmann::ordered_json Columns() const { return {{"bytes", bytes_}, {"qp", qp_}, {"key_frame", key_frame_}}; }

 private:
  std::vector<size_t> bytes_;
  std::vector<int> qp_;
  std::vector<int> key_frame_;
};

webrtc::VideoCodec CodecFor(const peer::FrameFormat& format, int64_t rate_bps) {
  webrtc::VideoCodec codec;
  codec.codecType = webrtc::kVideoCodecVP8;
  *codec.VP8() = webrtc::VideoEncoder::GetDefaultVp8Settings();
  codec.VP8()->numberOfTemporalLayers = 1;
  // As weir-peer's camera requests.
  codec.VP8()->denoisingOn = false;
  codec.width = static_cast<uint16_t>(format.width);
  codec.height = static_cast<uint16_t>(format.height);
  codec.maxFramerate = static_cast<uint32_t>(format.frames_per_second);
  codec.startBitrate = static_cast<unsigned>(rate_bps / 1000);
  codec.maxBitrate = static_cast<unsigned>(kBitrateRangeBps.max / 1000);
  codec.qpMax = 56;
  codec.SetFrameDropEnabled(true);
  return codec;
}

webrtc::VideoEncoder::RateControlParameters RateOf(int64_t rate_bps, double frames_per_second) {
  webrtc::VideoBitrateAllocation allocation;
  allocation.SetBitrate(0, 0, static_cast<uint32_t>(rate_bps));
  return {allocation, frames_per_second};
}

nlohmann::ordered_json Encode(const nlohmann::json& value) {
  JsonObject job(value, "");
  const size_t encoder_name = job.Choice("encoder", {"VP8", "fake"});
  const std::unique_ptr<peer::FrameSource> pictures = peer::OpenY4mFile(job.String("video"));
  const int64_t first_picture = job.Integer("first_picture", {.min = 0, .max = 1e6}, 0);
  const int64_t seed = job.Integer("seed", {.min = 0, .max = 1e9}, 1);
  std::vector<int64_t> rates_bps;
  for (const auto& rate : JsonArray(job.Require("rates_bps"), "rates_bps", 1, kMaxRates))
    rates_bps.push_back(JsonInteger(rate, "rates_bps", kBitrateRangeBps));
  // Numbers of the frames that are requested as key frames.
  std::vector<size_t> key_frames;
  if (const nlohmann::json* numbers = job.Find("key_frames")) {
    for (const auto& number : JsonArray(*numbers, "key_frames", 0, kMaxRates))
      key_frames.push_back(static_cast<size_t>(JsonInteger(number, "key_frames", {.min = 0, .max = kMaxRates})));
  }
  job.RefuseUnknownKeys();

  const auto factory = encoder_name == 0 ? webrtc::CreateBuiltinVideoEncoderFactory()
                                         : MakeModelEncoders(RandomStream(static_cast<uint64_t>(seed), 0));
  const peer::FrameFormat& format = pictures->format();
  const auto encoder = factory->Create(webrtc::CreateEnvironment(), webrtc::SdpVideoFormat::VP8());
  const webrtc::VideoCodec codec = CodecFor(format, rates_bps[0]);
  const webrtc::VideoEncoder::Settings settings(webrtc::VideoEncoder::Capabilities(/*loss_notification=*/false), 1,
                                                1200);
  Frames frames;
  if (encoder->InitEncode(&codec, settings) != WEBRTC_VIDEO_CODEC_OK)
    throw ProgramError("the encoder does not start", kFailed);
  encoder->RegisterEncodeCompleteCallback(&frames);
  for (size_t number = 0; number < rates_bps.size(); ++number) {
    if (number == 0 || rates_bps[number] != rates_bps[number - 1])
      encoder->SetRates(RateOf(rates_bps[number], format.frames_per_second));
    const double time_s = static_cast<double>(number) / format.frames_per_second;
    const webrtc::VideoFrame frame =
        webrtc::VideoFrame::Builder()
            .set_video_frame_buffer(pictures->Frame(first_picture + static_cast<int64_t>(number)))
            .set_rtp_timestamp(static_cast<uint32_t>(kVideoClockHz * time_s))
            .set_timestamp_us(static_cast<int64_t>(1e6 * time_s))
            .build();
    const bool key_frame = std::ranges::find(key_frames, number) != key_frames.end();
    const std::vector<webrtc::VideoFrameType> types{key_frame ? webrtc::VideoFrameType::kVideoFrameKey
                                                              : webrtc::VideoFrameType::kVideoFrameDelta};
    encoder->Encode(frame, &types);
    frames.Complete(number + 1);
  }
  encoder->Release();
  return frames.Columns();
}

int RunLines() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << JsonText(Encode(ParseJson(line))) << '\n' << std::flush;
  return 0;
}

}  // namespace
}  // namespace weir::sim

int main(int argc, char** argv) {
  weir::adapter::SilenceLibwebrtcLog();
  CLI::App app(
      "The frames that a video encoder of virtual calls makes at given rates. Each line of standard input is a job: "
      "encoder (VP8, fake), video (y4m), rates_bps (of each frame), and optionally first_picture, seed and key_frames "
      "(numbers of frames). Each line of output has the frames' bytes (0: dropped), qp (-1: unknown) and key_frame.",
      "weir-encode");
  return weir::RunProgram(app, argc, argv, weir::sim::RunLines);
}
