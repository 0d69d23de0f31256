#include "virtual_call/model_video.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "api/video/i420_buffer.h"
#include "modules/video_coding/codecs/interface/common_constants.h"
#include "modules/video_coding/include/video_codec_interface.h"
#include "modules/video_coding/include/video_error_codes.h"
#include "virtual_call/vp8_model.h"

namespace weir::sim {
namespace {

// Average quantizers below which libwebrtc sends a larger picture and above which a smaller one, as for its VP8.
constexpr int kLowQp = 29;
constexpr int kHighQp = 95;

// Writes the fields of a frame that libwebrtc's depacketizer reads (RFC 6386 section 9.1).
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
    scales_ = codec->VP8().automaticResizeOn && codec->GetFrameDropEnabled();
    model_.emplace(width_, height_, RandomStream(random_.Next(), 0));
    frames_per_second_ = codec->maxFramerate;
    SetRate(codec->startBitrate * 1000.0);
    return WEBRTC_VIDEO_CODEC_OK;
  }
  int32_t RegisterEncodeCompleteCallback(webrtc::EncodedImageCallback* callback) override {
    callback_ = callback;
    return WEBRTC_VIDEO_CODEC_OK;
  }
  int32_t Release() override { return WEBRTC_VIDEO_CODEC_OK; }
  void SetRates(const RateControlParameters& parameters) override {
    // libwebrtc passes a whole number of frames per second to VP8.
    if (parameters.framerate_fps >= 1) frames_per_second_ = std::round(parameters.framerate_fps);
    SetRate(parameters.bitrate.get_sum_bps());
  }
  int32_t Encode(const webrtc::VideoFrame& frame, const std::vector<webrtc::VideoFrameType>* types) override;
  // libwebrtc adapts by this as it does by VP8's.
  EncoderInfo GetEncoderInfo() const override {
    EncoderInfo info;
    info.implementation_name = "model";
    info.supports_native_handle = false;
    info.is_hardware_accelerated = false;
    info.has_trusted_rate_controller = true;
    info.scaling_settings = scales_ ? ScalingSettings(kLowQp, kHighQp) : ScalingSettings(ScalingSettings::kOff);
    return info;
  }

 private:
  void SetRate(double rate_bps) {
    rate_bps_ = rate_bps;
    if (model_ && rate_bps > 0) model_->SetRate(rate_bps, std::max(frames_per_second_, 1.0));
  }

  RandomStream random_;
  webrtc::EncodedImageCallback* callback_ = nullptr;
  int width_ = 0;
  int height_ = 0;
  bool scales_ = false;
  double rate_bps_ = 0;
  double frames_per_second_ = 30;
  std::optional<Vp8Model> model_;
};

int32_t ModelEncoder::Encode(const webrtc::VideoFrame& frame, const std::vector<webrtc::VideoFrameType>* types) {
  if (!model_) return WEBRTC_VIDEO_CODEC_UNINITIALIZED;
  if (rate_bps_ <= 0) return WEBRTC_VIDEO_CODEC_OK;
  const bool asked =
      types != nullptr && std::ranges::find(*types, webrtc::VideoFrameType::kVideoFrameKey) != types->end();
  const std::optional<Vp8Model::Frame> encoded = model_->Encode(asked);
  if (!encoded) {
    callback_->OnFrameDropped(frame.rtp_timestamp(), 0, /*is_end_of_temporal_unit=*/true);
    return WEBRTC_VIDEO_CODEC_OK;
  }
  const bool key_frame = encoded->key_frame;
  const auto size = static_cast<size_t>(std::clamp<int64_t>(encoded->bytes, 50, 4'000'000));
  const auto buffer = webrtc::EncodedImageBuffer::Create(size);
  std::memset(buffer->data(), 9, size);
  WriteVp8Header(buffer->data(), width_, height_, key_frame);
  webrtc::EncodedImage image;
  image.SetEncodedData(buffer);
  image.SetRtpTimestamp(frame.rtp_timestamp());
  image.set_frame_type(key_frame ? webrtc::VideoFrameType::kVideoFrameKey : webrtc::VideoFrameType::kVideoFrameDelta);
  image._encodedWidth = static_cast<uint32_t>(width_);
  image._encodedHeight = static_cast<uint32_t>(height_);
  image.qp_ = encoded->qp;
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
