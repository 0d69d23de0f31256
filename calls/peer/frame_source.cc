#include "frame_source.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

#include "frame_number.h"
#include "programs/input.h"

namespace weir::peer {
namespace {

constexpr int kNumberedFrames = 300;
// The sequence moves forward and back, so that its loop has no seam.
constexpr int kTravelFrames = kNumberedFrames / 2;
// Motion of a layer in luma pixels per frame; even, so that chroma moves with luma.
constexpr int kStepX = 6;
constexpr int kStepY = 2;

// Gray levels of an area that exceeds the frame by the distance of motion: blocks of 4, 16 and 64 pixels with random
// brightness, and grain.
struct Layer {
  int width;
  int height;
  std::vector<uint8_t> levels;

  const uint8_t* Row(int x, int y) const { return levels.data() + static_cast<size_t>(y) * width + x; }
};

Layer MakeLayer(int width, int height, double grain, uint32_t seed) {
  std::vector<double> values(static_cast<size_t>(width) * height, 128.0);
  std::minstd_rand random(seed);
  for (const int block : {4, 16, 64}) {
    const int columns = width / block + 1;
    std::vector<double> levels(static_cast<size_t>(columns) * (height / block + 1));
    std::uniform_real_distribution<double> level(-35.0, 35.0);
    for (double& value : levels) value = level(random);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        values[static_cast<size_t>(y) * width + x] += levels[static_cast<size_t>(y / block) * columns + x / block];
  }
  Layer layer{width, height, std::vector<uint8_t>(values.size())};
  std::uniform_real_distribution<double> noise(-grain, grain);
  for (size_t i = 0; i < values.size(); ++i)
    layer.levels[i] = static_cast<uint8_t>(std::clamp(values[i] + noise(random), 16.0, 235.0));
  return layer;
}

// Two transparent layers that move in opposite directions: motion compensation can follow only one of them, so the
// encoder uses its whole bitrate.
class Pattern final : public FrameSource {
 public:
  explicit Pattern(const FrameFormat& format)
      : format_(format), luma_{MakeLuma(1), MakeLuma(2)}, chroma_{MakeChroma(3), MakeChroma(4)} {}

  const FrameFormat& format() const override { return format_; }

  webrtc::scoped_refptr<webrtc::I420Buffer> Frame(int64_t index) override {
    const auto number = static_cast<int>(index % kNumberedFrames);
    const int there = std::min(number, kNumberedFrames - number);
    const int back = kTravelFrames - there;
    auto frame = webrtc::I420Buffer::Create(format_.width, format_.height);
    for (int y = 0; y < frame->height(); ++y)
      Mix(luma_[0].Row(there * kStepX, y + there * kStepY), luma_[1].Row(back * kStepX, y + there * kStepY),
          frame->MutableDataY() + y * frame->StrideY(), frame->width());
    for (int y = 0; y < frame->ChromaHeight(); ++y) {
      const int row = y + there * kStepY / 2;
      std::copy_n(chroma_[0].Row(there * kStepX / 2, row), frame->ChromaWidth(),
                  frame->MutableDataU() + y * frame->StrideU());
      std::copy_n(chroma_[1].Row(there * kStepX / 2, row), frame->ChromaWidth(),
                  frame->MutableDataV() + y * frame->StrideV());
    }
    if (format_.width % 40 == 0 && format_.width >= kMinNumberedWidth && format_.height * 40 >= format_.width * 3)
      DrawFrameNumber(static_cast<uint16_t>(number), *frame);
    return frame;
  }

 private:
  Layer MakeLuma(uint32_t seed) const {
    return MakeLayer(format_.width + kTravelFrames * kStepX, format_.height + kTravelFrames * kStepY, 10, seed);
  }
  Layer MakeChroma(uint32_t seed) const {
    return MakeLayer((format_.width + kTravelFrames * kStepX) / 2, (format_.height + kTravelFrames * kStepY) / 2, 3,
                     seed);
  }
  static void Mix(const uint8_t* a, const uint8_t* b, uint8_t* out, int size) {
    for (int i = 0; i < size; ++i) out[i] = static_cast<uint8_t>((a[i] + b[i]) / 2);
  }

  const FrameFormat format_;
  const Layer luma_[2];
  const Layer chroma_[2];
};

}  // namespace

std::unique_ptr<FrameSource> MakePattern(const FrameFormat& format) { return std::make_unique<Pattern>(format); }

namespace {

constexpr int kMaxHeaderSize = 1024;

// Parses "30:1" or "30000:1001".
std::optional<double> ParseRatio(const std::string& text) {
  int numerator = 0;
  int denominator = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%9d:%9d%c", &numerator, &denominator, &rest) != 2) return std::nullopt;
  if (numerator <= 0 || denominator <= 0) return std::nullopt;
  return static_cast<double>(numerator) / denominator;
}

int ParseSize(const std::string& text) {
  int size = 0;
  char rest = 0;
  return std::sscanf(text.c_str(), "%9d%c", &size, &rest) == 1 ? size : 0;
}

// Parses the file's first line. Throws ProgramError; its message starts with `about`.
FrameFormat ParseHeader(const std::string& line, const std::string& about) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "YUV4MPEG2") throw ProgramError(about + "not a YUV4MPEG2 file");
  FrameFormat format;
  std::string sampling = "420";
  while (words >> word) {
    const std::string value = word.substr(1);
    if (word[0] == 'W') format.width = ParseSize(value);
    if (word[0] == 'H') format.height = ParseSize(value);
    if (word[0] == 'F') format.frames_per_second = ParseRatio(value).value_or(0);
    if (word[0] == 'C') sampling = value;
  }
  if (format.width < 2 || format.height < 2 || format.width > kMaxFrameSize || format.height > kMaxFrameSize)
    throw ProgramError(about + "width and height must be 2 to " + std::to_string(kMaxFrameSize));
  if (format.frames_per_second < 1 || format.frames_per_second > kMaxFramesPerSecond)
    throw ProgramError(about + "the frame rate must be 1 to 120 frames per second");
  // 420, 420jpeg, 420mpeg2 and 420paldv differ in the position of chroma by half a pixel; 420p10 and such have more
  // bits.
  if (sampling != "420" && sampling != "420jpeg" && sampling != "420mpeg2" && sampling != "420paldv")
    throw ProgramError(about + "sampling must be 4:2:0 with 8 bits, not C" + sampling);
  return format;
}

class Y4mFile final : public FrameSource {
 public:
  Y4mFile(std::ifstream file, const FrameFormat& format, std::streamoff first_frame, int64_t frames)
      : file_(std::move(file)), format_(format), first_frame_(first_frame), frames_(frames) {}

  static size_t PictureSize(const FrameFormat& format) {
    const size_t chroma = static_cast<size_t>((format.width + 1) / 2) * ((format.height + 1) / 2);
    return static_cast<size_t>(format.width) * format.height + 2 * chroma;
  }
  static constexpr char kFrameLine[] = "FRAME\n";
  static constexpr std::streamoff kFrameLineSize = sizeof kFrameLine - 1;

  const FrameFormat& format() const override { return format_; }

  webrtc::scoped_refptr<webrtc::I420Buffer> Frame(int64_t index) override {
    const auto stride = static_cast<std::streamoff>(PictureSize(format_)) + kFrameLineSize;
    char frame_line[kFrameLineSize] = {};
    file_.clear();
    file_.seekg(first_frame_ + (index % frames_) * stride);
    file_.read(frame_line, kFrameLineSize);
    if (!file_ || std::string_view(frame_line, kFrameLineSize) != kFrameLine) return nullptr;
    auto frame = webrtc::I420Buffer::Create(format_.width, format_.height);
    ReadPlane(frame->MutableDataY(), frame->StrideY(), frame->width(), frame->height());
    ReadPlane(frame->MutableDataU(), frame->StrideU(), frame->ChromaWidth(), frame->ChromaHeight());
    ReadPlane(frame->MutableDataV(), frame->StrideV(), frame->ChromaWidth(), frame->ChromaHeight());
    return file_ ? frame : nullptr;
  }

 private:
  void ReadPlane(uint8_t* plane, int stride, int width, int height) {
    for (int row = 0; row < height; ++row) file_.read(reinterpret_cast<char*>(plane + row * stride), width);
  }

  std::ifstream file_;
  const FrameFormat format_;
  const std::streamoff first_frame_;
  const int64_t frames_;
};

}  // namespace

std::unique_ptr<FrameSource> OpenY4mFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  char c = 0;
  while (header.size() < kMaxHeaderSize && file.get(c) && c != '\n') header += c;
  if (c != '\n') throw ProgramError("cannot read the video " + path + ": no YUV4MPEG2 file");
  const std::string about = "cannot use the video " + path + ": ";
  const FrameFormat format = ParseHeader(header, about);
  const std::streamoff first_frame = file.tellg();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg() - first_frame;
  const int64_t frames = size / (static_cast<std::streamoff>(Y4mFile::PictureSize(format)) + Y4mFile::kFrameLineSize);
  if (frames < 1) throw ProgramError(about + "it holds no complete frame");
  auto source = std::make_unique<Y4mFile>(std::move(file), format, first_frame, frames);
  if (source->Frame(0) == nullptr || source->Frame(frames - 1) == nullptr)
    throw ProgramError(about + "frames must follow each other without parameters");
  return source;
}

}  // namespace weir::peer
