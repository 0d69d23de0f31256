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
#include "programs/input.h"

namespace weir::peer {
namespace {

constexpr size_t kSamplesPerFrame = kAudioRateHz / 100;

constexpr size_t kChunkHeaderSize = 8;
constexpr size_t kFormatSize = 16;
constexpr uint16_t kPcm = 1;

template <class T>
T ReadAt(std::string_view bytes, size_t position) {
  T value;
  std::memcpy(&value, bytes.data() + position, sizeof value);
  return value;
}

// Returns the content of the first chunk with that name, possibly truncated; empty if there is none.
std::string_view Chunk(std::string_view chunks, std::string_view name) {
  while (chunks.size() > kChunkHeaderSize) {
    const std::string_view content = chunks.substr(kChunkHeaderSize, ReadAt<uint32_t>(chunks, 4));
    if (chunks.starts_with(name)) return content;
    // Content of odd size has a byte of padding.
    chunks.remove_prefix(std::min(chunks.size(), kChunkHeaderSize + content.size() + content.size() % 2));
  }
  return {};
}

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
    std::array<uint8_t, webrtc::kPcmWavHeaderSize> header{};
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

std::unique_ptr<AudioCapturer> OpenAudioFile(const std::string& path) {
  const std::string file = ReadInputFile(path, "audio");
  const std::string_view bytes(file);
  const bool is_wave = bytes.starts_with("RIFF") && bytes.size() > 12 && bytes.substr(8, 4) == "WAVE";
  const std::string_view chunks = is_wave ? bytes.substr(12) : std::string_view();
  const std::string_view format = Chunk(chunks, "fmt ");
  if (format.size() < kFormatSize || ReadAt<uint16_t>(format, 0) != kPcm || ReadAt<uint16_t>(format, 2) != 1 ||
      ReadAt<uint32_t>(format, 4) != kAudioRateHz || ReadAt<uint16_t>(format, 14) != 8 * sizeof(int16_t))
    throw ProgramError(path + ": no WAV file of 16-bit mono PCM at 48000 Hz", kFailed);
  const std::string_view data = Chunk(chunks, "data");
  std::vector<int16_t> samples(data.size() / sizeof(int16_t));
  if (samples.empty()) throw ProgramError(path + ": this WAV file has no samples", kFailed);
  std::memcpy(samples.data(), data.data(), samples.size() * sizeof(int16_t));
  return std::make_unique<LoopingCapturer>(std::move(samples));
}

std::unique_ptr<AudioRenderer> RecordAudio(const std::string& path, std::function<void(std::string)> on_error) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw ProgramError("cannot write the received audio to " + path, kFailed);
  return std::make_unique<RecordingRenderer>(std::move(file), std::move(on_error));
}

}  // namespace weir::peer
