#include "frame_number.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "frame_source.h"

namespace weir::peer {
namespace {

TEST(FrameNumber, IsReadAtAnySizeThePictureWasScaledTo) {
  for (const auto& [width, height] : {std::pair{1280, 720}, {640, 360}, {320, 240}}) {
    auto picture = webrtc::I420Buffer::Create(width, height);
    for (const int number : {0, 1, 299, 0x5555, 0xffff}) {
      webrtc::I420Buffer::SetBlack(picture.get());
      DrawFrameNumber(static_cast<uint16_t>(number), *picture);
      for (const double scale : {0.25, 0.5, 2.0 / 3, 0.75, 1.0, 1.5}) {
        auto scaled = webrtc::I420Buffer::Create(static_cast<int>(width * scale), static_cast<int>(height * scale));
        scaled->ScaleFrom(*picture);
        EXPECT_EQ(ReadFrameNumber(*scaled), number) << width << " x " << scale;
      }
    }
  }
}

TEST(FrameNumber, IsNotFoundWhereThereIsNone) {
  auto picture = webrtc::I420Buffer::Create(640, 360);
  for (int y = 0; y < 360; ++y) std::memset(picture->MutableDataY() + y * picture->StrideY(), y % 7 * 40, 640);
  EXPECT_EQ(ReadFrameNumber(*picture), std::nullopt);
  EXPECT_EQ(ReadFrameNumber(*webrtc::I420Buffer::Create(40, 30)), std::nullopt);
  EXPECT_EQ(ReadFrameNumber(*webrtc::I420Buffer::Create(640, 20)), std::nullopt);
}

TEST(FrameNumber, OneWrongBlockIsNoticed) {
  auto picture = webrtc::I420Buffer::Create(640, 360);
  DrawFrameNumber(123, *picture);
  for (int y = 16; y < 32; ++y) {
    uint8_t* block = picture->MutableDataY() + y * picture->StrideY() + 16 * 5;
    for (int x = 0; x < 16; ++x) block[x] = static_cast<uint8_t>(251 - block[x]);
  }
  EXPECT_EQ(ReadFrameNumber(*picture), std::nullopt);
}

TEST(Pattern, RepeatsItsNumbersAndChangesBetweenFrames) {
  const auto pattern = MakePattern({.width = 320, .height = 180, .frames_per_second = 30});
  EXPECT_EQ(ReadFrameNumber(*pattern->Frame(0)), 0);
  EXPECT_EQ(ReadFrameNumber(*pattern->Frame(299)), 299);
  EXPECT_EQ(ReadFrameNumber(*pattern->Frame(300)), 0);
  const auto first = pattern->Frame(0);
  const auto second = pattern->Frame(1);
  int64_t difference = 0;
  for (int y = 30; y < 180; ++y)
    for (int x = 0; x < 320; ++x)
      difference += std::abs(first->DataY()[y * first->StrideY() + x] - second->DataY()[y * second->StrideY() + x]);
  EXPECT_GT(difference, 150 * 320 * 3);
}

}  // namespace
}  // namespace weir::peer
