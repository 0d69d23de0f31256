#include "virtual_call/model_audio.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/make_ref_counted.h"

namespace weir::sim {
namespace {

constexpr int kRateHz = 48'000;
constexpr size_t kBlocksPerPacket = 2;  // of 10 ms
constexpr size_t kPacketSamples = 960;
constexpr double kPacketsPerSecond = 50;
constexpr int kMinRateBps = 6'000;
// Opus with a variable bit rate.
constexpr double kSizeDeviation = 0.15;

webrtc::SdpAudioFormat Format() { return {"opus", kRateHz, 2, {{"minptime", "10"}, {"useinbandfec", "1"}}}; }
webrtc::AudioCodecInfo Info(int rate_bps) {
  webrtc::AudioCodecInfo info(kRateHz, 1, std::max(rate_bps, kMinRateBps), kMinRateBps, 510'000);
  info.allow_comfort_noise = false;
  info.supports_network_adaption = true;
  return info;
}
bool IsOpus(const webrtc::SdpAudioFormat& format) {
  return webrtc::SdpAudioFormat("opus", kRateHz, 2).Matches({format.name, format.clockrate_hz, format.num_channels});
}

class ModelAudioEncoder final : public webrtc::AudioEncoder {
 public:
  ModelAudioEncoder(int payload_type, DataRate rate, double packets_per_second, RandomStream random)
      : payload_type_(payload_type),
        rate_(rate),
        packets_per_second_(std::min(packets_per_second, kPacketsPerSecond)),
        random_(random) {}

  int SampleRateHz() const override { return kRateHz; }
  size_t NumChannels() const override { return 1; }
  size_t Num10MsFramesInNextPacket() const override { return kBlocksPerPacket; }
  size_t Max10MsFramesInAPacket() const override { return kBlocksPerPacket; }
  int GetTargetBitrate() const override { return static_cast<int>(rate_.bps()); }
  void Reset() override { blocks_ = 0; }
  std::optional<std::pair<webrtc::TimeDelta, webrtc::TimeDelta>> GetFrameLengthRange() const override {
    return {{webrtc::TimeDelta::Millis(20), webrtc::TimeDelta::Millis(20)}};
  }

 private:
  EncodedInfo EncodeImpl(uint32_t rtp_timestamp, std::span<const int16_t>, webrtc::Buffer* encoded) override {
    if (blocks_ == 0) first_timestamp_ = rtp_timestamp;
    EncodedInfo info;
    if (++blocks_ < kBlocksPerPacket) return info;
    blocks_ = 0;
    due_ += packets_per_second_ / kPacketsPerSecond;
    if (due_ < 1) return info;
    due_ -= 1;
    const double mean = static_cast<double>(rate_.bps()) / 8 / packets_per_second_;
    const auto size =
        static_cast<size_t>(std::clamp(mean * random_.Uniform(1 - kSizeDeviation, 1 + kSizeDeviation), 1.0, 1000.0));
    const std::vector<uint8_t> payload(size, 0);
    encoded->AppendData(payload.data(), payload.size());
    info.encoded_bytes = size;
    info.encoded_timestamp = first_timestamp_;
    info.payload_type = payload_type_;
    info.encoder_type = CodecType::kOpus;
    return info;
  }

  const int payload_type_;
  const DataRate rate_;
  const double packets_per_second_;
  RandomStream random_;
  // Number of packets that are due.
  double due_ = 0;
  size_t blocks_ = 0;
  uint32_t first_timestamp_ = 0;
};

class ModelAudioEncoders : public webrtc::AudioEncoderFactory {
 public:
  ModelAudioEncoders(DataRate rate, double packets_per_second, RandomStream random)
      : rate_(rate), packets_per_second_(packets_per_second), random_(random) {}
  std::vector<webrtc::AudioCodecSpec> GetSupportedEncoders() override {
    return {{Format(), Info(static_cast<int>(rate_.bps()))}};
  }
  std::optional<webrtc::AudioCodecInfo> QueryAudioEncoder(const webrtc::SdpAudioFormat& format) override {
    if (!IsOpus(format)) return std::nullopt;
    return Info(static_cast<int>(rate_.bps()));
  }
  std::unique_ptr<webrtc::AudioEncoder> Create(const webrtc::Environment&, const webrtc::SdpAudioFormat&,
                                               Options options) override {
    return std::make_unique<ModelAudioEncoder>(options.payload_type, rate_, packets_per_second_,
                                               RandomStream(random_.Next(), 0));
  }

 private:
  const DataRate rate_;
  const double packets_per_second_;
  RandomStream random_;
};

class ModelAudioDecoder final : public webrtc::AudioDecoder {
 public:
  void Reset() override {}
  int PacketDuration(const uint8_t*, size_t) const override { return static_cast<int>(kPacketSamples); }
  int SampleRateHz() const override { return kRateHz; }
  size_t Channels() const override { return 1; }

 private:
  int DecodeInternal(const uint8_t*, size_t, int, int16_t* decoded, SpeechType* speech_type) override {
    std::fill_n(decoded, kPacketSamples, int16_t{0});
    *speech_type = kSpeech;
    return static_cast<int>(kPacketSamples);
  }
};

class ModelAudioDecoders : public webrtc::AudioDecoderFactory {
 public:
  std::vector<webrtc::AudioCodecSpec> GetSupportedDecoders() override { return {{Format(), Info(32'000)}}; }
  bool IsSupportedDecoder(const webrtc::SdpAudioFormat& format) override { return IsOpus(format); }
  std::unique_ptr<webrtc::AudioDecoder> Create(const webrtc::Environment&, const webrtc::SdpAudioFormat&,
                                               std::optional<webrtc::AudioCodecPairId>) override {
    return std::make_unique<ModelAudioDecoder>();
  }
};

}  // namespace

webrtc::scoped_refptr<webrtc::AudioEncoderFactory> MakeModelAudioEncoders(DataRate rate, double packets_per_second,
                                                                          RandomStream random) {
  return webrtc::make_ref_counted<ModelAudioEncoders>(rate, packets_per_second, random);
}

webrtc::scoped_refptr<webrtc::AudioDecoderFactory> MakeModelAudioDecoders() {
  return webrtc::make_ref_counted<ModelAudioDecoders>();
}

}  // namespace weir::sim
