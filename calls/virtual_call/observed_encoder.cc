#include "virtual_call/observed_encoder.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weir::sim {
namespace {

class ObservedEncoder final : public webrtc::VideoEncoder, private webrtc::EncodedImageCallback {
 public:
  ObservedEncoder(std::unique_ptr<webrtc::VideoEncoder> encoder, FrameLog* frames,
                  const std::function<void(DataRate)>& on_rate, const RequestedPlayoutDelay* playout_delay)
      : encoder_(std::move(encoder)), frames_(frames), on_rate_(on_rate), playout_delay_(playout_delay) {}

  void SetFecControllerOverride(webrtc::FecControllerOverride* controller) override {
    encoder_->SetFecControllerOverride(controller);
  }
  int InitEncode(const webrtc::VideoCodec* codec, const Settings& settings) override {
    return encoder_->InitEncode(codec, settings);
  }
  int32_t RegisterEncodeCompleteCallback(webrtc::EncodedImageCallback* callback) override {
    callback_ = callback;
    return encoder_->RegisterEncodeCompleteCallback(callback ? this : nullptr);
  }
  int32_t Release() override { return encoder_->Release(); }
  int32_t Encode(const webrtc::VideoFrame& frame, const std::vector<webrtc::VideoFrameType>* types) override {
    frames_->OnCaptured(frame);
    return encoder_->Encode(frame, types);
  }
  void SetRates(const RateControlParameters& parameters) override {
    encoder_->SetRates(parameters);
    on_rate_(DataRate::BitsPerSecond(parameters.bandwidth_allocation.bps()));
  }
  void OnPacketLossRateUpdate(float ratio) override { encoder_->OnPacketLossRateUpdate(ratio); }
  void OnRttUpdate(int64_t rtt_ms) override { encoder_->OnRttUpdate(rtt_ms); }
  void OnLossNotification(const LossNotification& notification) override { encoder_->OnLossNotification(notification); }
  EncoderInfo GetEncoderInfo() const override { return encoder_->GetEncoderInfo(); }

 private:
  Result OnEncodedImage(const webrtc::EncodedImage& image, const webrtc::CodecSpecificInfo* codec) override {
    frames_->OnEncoded(image);
    webrtc::EncodedImage sent = image;
    sent.SetPlayoutDelay(*playout_delay_);
    return callback_->OnEncodedImage(sent, codec);
  }
  void OnFrameDropped(uint32_t rtp_timestamp, int spatial_id, bool is_end_of_temporal_unit) override {
    callback_->OnFrameDropped(rtp_timestamp, spatial_id, is_end_of_temporal_unit);
  }

  const std::unique_ptr<webrtc::VideoEncoder> encoder_;
  FrameLog* const frames_;
  const std::function<void(DataRate)>& on_rate_;
  const RequestedPlayoutDelay* const playout_delay_;
  webrtc::EncodedImageCallback* callback_ = nullptr;
};

class ObservedEncoders final : public webrtc::VideoEncoderFactory {
 public:
  ObservedEncoders(std::unique_ptr<webrtc::VideoEncoderFactory> factory, FrameLog* frames,
                   std::function<void(DataRate)> on_rate, const RequestedPlayoutDelay* playout_delay)
      : factory_(std::move(factory)), frames_(frames), on_rate_(std::move(on_rate)), playout_delay_(playout_delay) {}

  std::vector<webrtc::SdpVideoFormat> GetSupportedFormats() const override { return factory_->GetSupportedFormats(); }
  CodecSupport QueryCodecSupport(const webrtc::SdpVideoFormat& format, std::optional<std::string> mode,
                                 std::optional<webrtc::Resolution> resolution) const override {
    return factory_->QueryCodecSupport(format, std::move(mode), resolution);
  }
  std::unique_ptr<webrtc::VideoEncoder> Create(const webrtc::Environment& environment,
                                               const webrtc::SdpVideoFormat& format) override {
    return std::make_unique<ObservedEncoder>(factory_->Create(environment, format), frames_, on_rate_, playout_delay_);
  }

 private:
  const std::unique_ptr<webrtc::VideoEncoderFactory> factory_;
  FrameLog* const frames_;
  const std::function<void(DataRate)> on_rate_;
  const RequestedPlayoutDelay* const playout_delay_;
};

}  // namespace

std::unique_ptr<webrtc::VideoEncoderFactory> ObserveEncoders(std::unique_ptr<webrtc::VideoEncoderFactory> factory,
                                                             FrameLog* frames,
                                                             std::function<void(DataRate rate)> on_rate,
                                                             const RequestedPlayoutDelay* playout_delay) {
  return std::make_unique<ObservedEncoders>(std::move(factory), frames, std::move(on_rate), playout_delay);
}

}  // namespace weir::sim
