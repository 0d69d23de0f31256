#include "frame_number.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace weir::peer {
namespace {

constexpr int kBlocksAcross = 40;
constexpr int kBits = 24;
constexpr uint8_t kOne = 235;
constexpr uint8_t kZero = 16;
constexpr uint8_t kGray = 128;

uint8_t Crc8(uint16_t number) {
  uint8_t crc = 0;
  for (const uint8_t byte : std::array{static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)}) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = static_cast<uint8_t>((crc << 1) ^ (crc & 0x80 ? 0x07 : 0));
  }
  return crc;
}

void Fill(uint8_t* plane, int stride, int x, int y, int width, int height, uint8_t value) {
  for (int row = y; row < y + height; ++row) std::memset(plane + row * stride + x, value, static_cast<size_t>(width));
}

// Mean luma of [left, right) x [top, bottom), which is at least one pixel.
double MeanLuma(const webrtc::I420BufferInterface& frame, double left, double right, double top, double bottom) {
  const int x_begin = static_cast<int>(left);
  const int y_begin = static_cast<int>(top);
  const int x_end = std::clamp(static_cast<int>(right), x_begin + 1, frame.width());
  const int y_end = std::clamp(static_cast<int>(bottom), y_begin + 1, frame.height());
  int64_t sum = 0;
  for (int y = y_begin; y < y_end; ++y) {
    const uint8_t* row = frame.DataY() + y * frame.StrideY();
    for (int x = x_begin; x < x_end; ++x) sum += row[x];
  }
  return static_cast<double>(sum) / ((x_end - x_begin) * (y_end - y_begin));
}

}  // namespace

void DrawFrameNumber(uint16_t number, webrtc::I420Buffer& frame) {
  const int block = frame.width() / kBlocksAcross;
  const int width = (kBits + 2) * block;
  Fill(frame.MutableDataY(), frame.StrideY(), 0, 0, width, 3 * block, kZero);
  Fill(frame.MutableDataU(), frame.StrideU(), 0, 0, (width + 1) / 2, (3 * block + 1) / 2, kGray);
  Fill(frame.MutableDataV(), frame.StrideV(), 0, 0, (width + 1) / 2, (3 * block + 1) / 2, kGray);
  const uint32_t bits = uint32_t{number} << 8 | Crc8(number);
  for (int k = 0; k < kBits; ++k) {
    if ((bits >> (kBits - 1 - k) & 1) != 0)
      Fill(frame.MutableDataY(), frame.StrideY(), block * (1 + k), block, block, block, kOne);
  }
}

std::optional<uint16_t> ReadFrameNumber(const webrtc::I420BufferInterface& frame) {
  const double block = static_cast<double>(frame.width()) / kBlocksAcross;
  if (frame.width() < kMinNumberedWidth || frame.height() < 3 * block) return std::nullopt;
  uint32_t bits = 0;
  for (int k = 0; k < kBits; ++k) {
    const double mean = MeanLuma(frame, block * (k + 1.25), block * (k + 1.75), block * 1.25, block * 1.75);
    bits = bits << 1 | (mean > 128 ? 1 : 0);
  }
  const auto number = static_cast<uint16_t>(bits >> 8);
  if (Crc8(number) != (bits & 0xff)) return std::nullopt;
  return number;
}

}  // namespace weir::peer
