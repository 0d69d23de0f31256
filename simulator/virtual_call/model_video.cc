#include "virtual_call/model_video.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "api/video/i420_buffer.h"
#include "modules/video_coding/codecs/interface/common_constants.h"
#include "modules/video_coding/include/video_codec_interface.h"
#include "modules/video_coding/include/video_error_codes.h"

namespace weir::sim {
namespace {

// As libvpx in libwebrtc's real-time mode, but not yet fitted to its frames: a key frame over an average one, how much
// of its excess each later frame pays back, how far sizes scatter, and what a frame has at the coarsest quantizer.
constexpr double kKeyFrameSize = 5;
constexpr double kRepaidShare = 0.3;
constexpr double kSizeScatter = 0.15;
constexpr double kMaxScatter = 0.6;
constexpr double kLeastFrameBytes = 500;
// At what excess over the target, in average frames, libvpx drops frames.
constexpr double kDroppedAtFrames = 6;

// RFC 6386 section 9.1: what libwebrtc's depacketizer reads of a frame.
void WriteVp8Header(uint8_t* payload, int width, int height, bool key_frame) {
  payload[0] = key_frame ? 0 : 1;
  if (!key_frame) return;
  payload[6] = static_cast<uint8_t>(width & 0xff);
  payload[7] = static_cast<uint8_t>(width >> 8 & 0x3f);
  payload[8] = static_cast<uint8_t>(height & 0xff);
  payload[9] = static_cast<uint8_t>(height >> 8 & 0x3f);
}

class BlankPictures final : public peer::FrameSource {
 public:
  explicit BlankPictures(const peer::FrameFormat& format)
      : format_(format), picture_(webrtc::I420Buffer::Create(format.width, format.height)) {
    webrtc::I420Buffer::SetBlack(picture_.get());
  }
  const peer::FrameFormat& format() const override { return format_; }
  webrtc::scoped_refptr<webrtc::I420Buffer> Frame(int64_t) override { return picture_; }

 private:
  const peer::FrameFormat format_;
  const webrtc::scoped_refptr<webrtc::I420Buffer> picture_;
};

class ModelEncoder final : public webrtc::VideoEncoder {
 public:
  explicit ModelEncoder(RandomStream random) : random_(random) {}

  int InitEncode(const webrtc::VideoCodec* codec, const Settings&) override {
    width_ = codec->width;
    height_ = codec->height;
    rate_bps_ = codec->startBitrate * 1000.0;
    frames_per_second_ = codec->maxFramerate;
    debt_bytes_ = 0;
    key_frame_wanted_ = true;
    return WEBRTC_VIDEO_CODEC_OK;
  }
  int32_t RegisterEncodeCompleteCallback(webrtc::EncodedImageCallback* callback) override {
    callback_ = callback;
    return WEBRTC_VIDEO_CODEC_OK;
  }
  int32_t Release() override { return WEBRTC_VIDEO_CODEC_OK; }
  void SetRates(const RateControlParameters& parameters) override {
    rate_bps_ = parameters.bitrate.get_sum_bps();
    if (parameters.framerate_fps > 0) frames_per_second_ = parameters.framerate_fps;
  }
  int32_t Encode(const webrtc::VideoFrame& frame, const std::vector<webrtc::VideoFrameType>* types) override;
  EncoderInfo GetEncoderInfo() const override {
    EncoderInfo info;
    info.implementation_name = "model";
    info.supports_native_handle = false;
    // So that libwebrtc neither adapts to the processor nor limits rates by the picture's size.
    info.is_hardware_accelerated = true;
    info.has_trusted_rate_controller = true;
    info.scaling_settings = ScalingSettings::kOff;
    return info;
  }

 private:
  double NextSize(bool key_frame);

  RandomStream random_;
  webrtc::EncodedImageCallback* callback_ = nullptr;
  int width_ = 0;
  int height_ = 0;
  double rate_bps_ = 0;
  double frames_per_second_ = 30;
  // Bytes beyond the target so far.
  double debt_bytes_ = 0;
  bool key_frame_wanted_ = true;
};

double ModelEncoder::NextSize(bool key_frame) {
  const double average = rate_bps_ / 8 / frames_per_second_;
  const double u = random_.Uniform() - 0.5;
  const double scatter = -kSizeScatter * std::copysign(std::log1p(-2 * std::abs(u)), u);
  const double paid = std::min(std::max(debt_bytes_, 0.0) * kRepaidShare, average / 2);
  const double wanted =
      key_frame ? kKeyFrameSize * average : (average - paid) * (1 + std::clamp(scatter, -kMaxScatter, kMaxScatter));
  const double size = std::max(wanted, kLeastFrameBytes);
  debt_bytes_ = std::max(debt_bytes_ + size - average, -average);
  return size;
}

int32_t ModelEncoder::Encode(const webrtc::VideoFrame& frame, const std::vector<webrtc::VideoFrameType>* types) {
  const bool asked =
      types != nullptr && std::ranges::find(*types, webrtc::VideoFrameType::kVideoFrameKey) != types->end();
  const bool key_frame = std::exchange(key_frame_wanted_, false) || asked;
  if (rate_bps_ <= 0) return WEBRTC_VIDEO_CODEC_OK;
  const double average = rate_bps_ / 8 / frames_per_second_;
  if (!key_frame && debt_bytes_ > kDroppedAtFrames * std::max(average, kLeastFrameBytes / 2)) {
    debt_bytes_ -= average;
    callback_->OnFrameDropped(frame.rtp_timestamp(), 0, /*is_end_of_temporal_unit=*/true);
    return WEBRTC_VIDEO_CODEC_OK;
  }
  const auto size = static_cast<size_t>(std::clamp(NextSize(key_frame), 50.0, 4e6));
  const auto buffer = webrtc::EncodedImageBuffer::Create(size);
  std::memset(buffer->data(), 9, size);
  WriteVp8Header(buffer->data(), width_, height_, key_frame);
  webrtc::EncodedImage image;
  image.SetEncodedData(buffer);
  image.SetRtpTimestamp(frame.rtp_timestamp());
  image.set_frame_type(key_frame ? webrtc::VideoFrameType::kVideoFrameKey : webrtc::VideoFrameType::kVideoFrameDelta);
  image._encodedWidth = static_cast<uint32_t>(width_);
  image._encodedHeight = static_cast<uint32_t>(height_);
  webrtc::CodecSpecificInfo codec;
  codec.codecType = webrtc::kVideoCodecVP8;
  codec.codecSpecific.VP8.temporalIdx = webrtc::kNoTemporalIdx;
  codec.codecSpecific.VP8.keyIdx = webrtc::kNoKeyIdx;
  const auto result = callback_->OnEncodedImage(image, &codec);
  return result.error == webrtc::EncodedImageCallback::Result::OK ? WEBRTC_VIDEO_CODEC_OK : WEBRTC_VIDEO_CODEC_ERROR;
}

class ModelEncoders final : public webrtc::VideoEncoderFactory {
 public:
  explicit ModelEncoders(RandomStream random) : random_(random) {}
  std::vector<webrtc::SdpVideoFormat> GetSupportedFormats() const override { return {webrtc::SdpVideoFormat::VP8()}; }
  std::unique_ptr<webrtc::VideoEncoder> Create(const webrtc::Environment&, const webrtc::SdpVideoFormat&) override {
    return std::make_unique<ModelEncoder>(RandomStream(random_.Next(), 0));
  }

 private:
  RandomStream random_;
};

class ModelDecoder final : public webrtc::VideoDecoder {
 public:
  bool Configure(const Settings&) override { return true; }
  int32_t Decode(const webrtc::EncodedImage& image, int64_t render_time_ms) override {
    const auto width = static_cast<int>(image._encodedWidth);
    const auto height = static_cast<int>(image._encodedHeight);
    if (width > 0 && height > 0 && (!picture_ || picture_->width() != width || picture_->height() != height)) {
      picture_ = webrtc::I420Buffer::Create(width, height);
      webrtc::I420Buffer::SetBlack(picture_.get());
    }
    if (!picture_) return WEBRTC_VIDEO_CODEC_ERROR;
    webrtc::VideoFrame frame =
        webrtc::VideoFrame::Builder().set_video_frame_buffer(picture_).set_timestamp_ms(render_time_ms).build();
    frame.set_rtp_timestamp(image.RtpTimestamp());
    frame.set_ntp_time_ms(image.ntp_time_ms_);
    callback_->Decoded(frame);
    return WEBRTC_VIDEO_CODEC_OK;
  }
  int32_t RegisterDecodeCompleteCallback(webrtc::DecodedImageCallback* callback) override {
    callback_ = callback;
    return WEBRTC_VIDEO_CODEC_OK;
  }
  int32_t Release() override { return WEBRTC_VIDEO_CODEC_OK; }

 private:
  webrtc::scoped_refptr<webrtc::I420Buffer> picture_;
  webrtc::DecodedImageCallback* callback_ = nullptr;
};

class ModelDecoders final : public webrtc::VideoDecoderFactory {
 public:
  std::vector<webrtc::SdpVideoFormat> GetSupportedFormats() const override {
    return {webrtc::SdpVideoFormat::VP8(), webrtc::SdpVideoFormat::VP9Profile0()};
  }
  std::unique_ptr<webrtc::VideoDecoder> Create(const webrtc::Environment&, const webrtc::SdpVideoFormat&) override {
    return std::make_unique<ModelDecoder>();
  }
};

}  // namespace

std::unique_ptr<peer::FrameSource> MakeBlankPictures(const peer::FrameFormat& format) {
  return std::make_unique<BlankPictures>(format);
}

std::unique_ptr<webrtc::VideoEncoderFactory> MakeModelEncoders(RandomStream random) {
  return std::make_unique<ModelEncoders>(random);
}

std::unique_ptr<webrtc::VideoDecoderFactory> MakeModelDecoders() { return std::make_unique<ModelDecoders>(); }

}  // namespace weir::sim
