#include "audio_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common_audio/wav_header.h"
#include "program/input.h"

namespace weir::peer {
namespace {

constexpr size_t kSamplesPerFrame = kAudioRateHz / 100;

class HeaderReader final : public webrtc::WavHeaderReader {
 public:
  explicit HeaderReader(std::string_view file) : file_(file) {}

  size_t Read(void* to, size_t size) override {
    const size_t read = file_.substr(position_).copy(static_cast<char*>(to), size);
    position_ += read;
    return read;
  }
  bool SeekForward(uint32_t size) override {
    if (size > file_.size() - position_) return false;
    position_ += size;
    return true;
  }
  int64_t GetPosition() override { return static_cast<int64_t>(position_); }

 private:
  const std::string_view file_;
  size_t position_ = 0;
};

class LoopingCapturer final : public AudioCapturer {
 public:
  explicit LoopingCapturer(std::vector<int16_t> samples) : samples_(std::move(samples)) {}

  int SamplingFrequency() const override { return kAudioRateHz; }
  int NumChannels() const override { return 1; }
  bool Capture(webrtc::BufferT<int16_t>* buffer) override {
    buffer->SetData(kSamplesPerFrame, [this](std::span<int16_t> frame) {
      for (int16_t& sample : frame) {
        sample = samples_[next_];
        next_ = (next_ + 1) % samples_.size();
      }
      return frame.size();
    });
    return true;
  }

 private:
  const std::vector<int16_t> samples_;
  size_t next_ = 0;
};

class RecordingRenderer final : public AudioRenderer {
 public:
  RecordingRenderer(std::ofstream file, std::function<void(std::string)> on_error)
      : file_(std::move(file)), on_error_(std::move(on_error)) {
    samples_.reserve(kMaxRecordedSamples);
  }

  ~RecordingRenderer() override {
    std::array<uint8_t, webrtc::kPcmWavHeaderSize> header;
    size_t header_size = 0;
    webrtc::WriteWavHeader(1, kAudioRateHz, webrtc::WavFormat::kWavFormatPcm, samples_.size(), header.data(),
                           &header_size);
    file_.write(reinterpret_cast<const char*>(header.data()), static_cast<std::streamsize>(header_size));
    file_.write(reinterpret_cast<const char*>(samples_.data()),
                static_cast<std::streamsize>(samples_.size() * sizeof(int16_t)));
    file_.close();
    if (!file_) on_error_("received audio cannot be written: disk full?");
  }

  int SamplingFrequency() const override { return kAudioRateHz; }
  int NumChannels() const override { return 1; }
  bool Render(std::span<const int16_t> data) override {
    const size_t kept = std::min(data.size(), kMaxRecordedSamples - samples_.size());
    samples_.insert(samples_.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(kept));
    return true;
  }

 private:
  std::ofstream file_;
  const std::function<void(std::string)> on_error_;
  // Reserved once: a larger allocation during the call would copy all samples.
  std::vector<int16_t> samples_;
};

}  // namespace

Result<std::unique_ptr<AudioCapturer>> OpenAudioFile(const std::string& path) {
  const std::string file = ReadInputFile(path, "audio");
  HeaderReader header(file);
  size_t channels = 0, sample_bytes = 0, count = 0;
  int rate_hz = 0;
  webrtc::WavFormat format{};
  int64_t start = 0;
  if (!webrtc::ReadWavHeader(&header, &channels, &rate_hz, &format, &sample_bytes, &count, &start) ||
      format != webrtc::WavFormat::kWavFormatPcm || sample_bytes != sizeof(int16_t) || channels != 1 ||
      rate_hz != kAudioRateHz)
    return Error{path + ": no WAV file of 16-bit mono PCM at 48000 Hz"};
  const size_t size = std::min(count * sizeof(int16_t), file.size() - static_cast<size_t>(start));
  std::vector<int16_t> samples(size / sizeof(int16_t));
  if (samples.empty()) return Error{path + ": this WAV file has no samples"};
  std::memcpy(samples.data(), file.data() + start, samples.size() * sizeof(int16_t));
  return std::unique_ptr<AudioCapturer>(std::make_unique<LoopingCapturer>(std::move(samples)));
}

Result<std::unique_ptr<AudioRenderer>> RecordAudio(const std::string& path, std::function<void(std::string)> on_error) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) return Error{"cannot write the received audio to " + path};
  return std::unique_ptr<AudioRenderer>(std::make_unique<RecordingRenderer>(std::move(file), std::move(on_error)));
}

}  // namespace weir::peer
