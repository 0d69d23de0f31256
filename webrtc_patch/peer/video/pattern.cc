#include <algorithm>
#include <random>
#include <vector>

#include "video/frame_number.h"
#include "video/frame_source.h"

namespace weir::peer {
namespace {

constexpr int kNumberedFrames = 300;
// The sequence goes there and back again, so that it has no seam.
constexpr int kTravelFrames = kNumberedFrames / 2;
// Luma pixels a frame by which a layer moves; even, so that chroma moves with luma.
constexpr int kStepX = 6;
constexpr int kStepY = 2;

// Grey levels larger than the frame by how far it moves: blocks of 4, 16 and 64 pixels of random brightness over each
// other, and grain.
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

// Two transparent layers that move against each other: an encoder that follows one misses the other, so that it can
// use all the bits it is given.
class Pattern final : public FrameSource {
 public:
  explicit Pattern(const FrameFormat& format)
      : format_(format), luma_{MakeLuma(1), MakeLuma(2)}, chroma_{MakeChroma(3), MakeChroma(4)} {}

  const FrameFormat& format() const override { return format_; }

  rtc::scoped_refptr<webrtc::I420Buffer> Frame(int64_t index) override {
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

}  // namespace weir::peer
