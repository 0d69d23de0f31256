#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "video/frame_source.h"

namespace weir::peer {
namespace {

constexpr int kMaxHeaderSize = 1024;

// "30:1" or "30000:1001".
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

// What is wrong with the file's first line; nothing, and `format` filled in, when it is right.
std::optional<std::string> ParseHeader(const std::string& line, FrameFormat& format) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "YUV4MPEG2") return "not a YUV4MPEG2 file";
  std::string sampling = "420";
  while (words >> word) {
    const std::string value = word.substr(1);
    if (word[0] == 'W') format.width = ParseSize(value);
    if (word[0] == 'H') format.height = ParseSize(value);
    if (word[0] == 'F') format.frames_per_second = ParseRatio(value).value_or(0);
    if (word[0] == 'C') sampling = value;
  }
  if (format.width < 2 || format.height < 2 || format.width > kMaxFrameSize || format.height > kMaxFrameSize)
    return "width and height must be 2 to " + std::to_string(kMaxFrameSize);
  if (format.frames_per_second < 1 || format.frames_per_second > kMaxFramesPerSecond)
    return "the frame rate must be 1 to 120 frames per second";
  // 420, 420jpeg, 420mpeg2 and 420paldv differ in where chroma lies by half a pixel; 420p10 and such have more bits.
  if (sampling != "420" && sampling != "420jpeg" && sampling != "420mpeg2" && sampling != "420paldv")
    return "sampling must be 4:2:0 with 8 bits, not C" + sampling;
  return std::nullopt;
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

  rtc::scoped_refptr<webrtc::I420Buffer> Frame(int64_t index) override {
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

Result<std::unique_ptr<FrameSource>> OpenY4mFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string header;
  char c = 0;
  while (header.size() < kMaxHeaderSize && file.get(c) && c != '\n') header += c;
  if (c != '\n') return Error{"cannot read the video " + path + ": no YUV4MPEG2 file"};
  FrameFormat format;
  if (const auto fault = ParseHeader(header, format)) return Error{"cannot use the video " + path + ": " + *fault};
  const std::streamoff first_frame = file.tellg();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg() - first_frame;
  const int64_t frames = size / (static_cast<std::streamoff>(Y4mFile::PictureSize(format)) + Y4mFile::kFrameLineSize);
  if (frames < 1) return Error{"cannot use the video " + path + ": it holds no complete frame"};
  std::unique_ptr<FrameSource> source = std::make_unique<Y4mFile>(std::move(file), format, first_frame, frames);
  if (source->Frame(0) == nullptr || source->Frame(frames - 1) == nullptr)
    return Error{"cannot use the video " + path + ": frames must follow each other without parameters"};
  return source;
}

}  // namespace weir::peer
