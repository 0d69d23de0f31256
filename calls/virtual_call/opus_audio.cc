#include "virtual_call/opus_audio.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "api/audio_codecs/opus/audio_encoder_opus.h"
#include "api/make_ref_counted.h"

namespace weir::sim {
namespace {

using webrtc::AudioEncoderOpus;
using webrtc::AudioEncoderOpusConfig;

class OpusEncoders : public webrtc::AudioEncoderFactory {
 public:
  explicit OpusEncoders(DataRate rate)
      : rate_bps_(static_cast<int>(std::clamp<int64_t>(rate.bps(), AudioEncoderOpusConfig::kMinBitrateBps,
                                                       AudioEncoderOpusConfig::kMaxBitrateBps))) {}

  std::vector<webrtc::AudioCodecSpec> GetSupportedEncoders() override {
    std::vector<webrtc::AudioCodecSpec> specs;
    AudioEncoderOpus::AppendSupportedEncoders(&specs);
    for (webrtc::AudioCodecSpec& spec : specs) spec.info.default_bitrate_bps = rate_bps_;
    return specs;
  }
  std::optional<webrtc::AudioCodecInfo> QueryAudioEncoder(const webrtc::SdpAudioFormat& format) override {
    const std::optional<AudioEncoderOpusConfig> config = ConfigOf(format);
    if (!config) return std::nullopt;
    webrtc::AudioCodecInfo info = AudioEncoderOpus::QueryAudioEncoder(*config);
    info.default_bitrate_bps = rate_bps_;
    return info;
  }
  std::unique_ptr<webrtc::AudioEncoder> Create(const webrtc::Environment& environment,
                                               const webrtc::SdpAudioFormat& format, Options options) override {
    std::optional<AudioEncoderOpusConfig> config = ConfigOf(format);
    if (!config) return nullptr;
    return AudioEncoderOpus::MakeAudioEncoder(environment, *std::move(config), options);
  }

 private:
  std::optional<AudioEncoderOpusConfig> ConfigOf(const webrtc::SdpAudioFormat& format) const {
    std::optional<AudioEncoderOpusConfig> config = AudioEncoderOpus::SdpToConfig(format);
    if (config) config->bitrate_bps = rate_bps_;
    return config;
  }

  const int rate_bps_;
};

}  // namespace

webrtc::scoped_refptr<webrtc::AudioEncoderFactory> MakeOpusEncoders(DataRate rate) {
  return webrtc::make_ref_counted<OpusEncoders>(rate);
}

}  // namespace weir::sim
