#include "virtual_call/vp8_model.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::sim {
namespace {

constexpr double kFramesPerSecond = 30;

// Frames that a model encodes at one rate.
struct Encoded {
  double rate_over_target = 0;
  double first_frame = 0;
  double dropped_share = 0;
  double mean_qp = 0;
};

Encoded Encode(Vp8Model& model, double rate_bps, int frames) {
  Encoded encoded;
  model.SetRate(rate_bps, kFramesPerSecond);
  const double average = rate_bps / 8 / kFramesPerSecond;
  int kept = 0;
  for (int i = 0; i < frames; ++i) {
    const auto frame = model.Encode(false);
    if (!frame) continue;
    if (kept++ == 0) encoded.first_frame = static_cast<double>(frame->bytes) / average;
    encoded.rate_over_target += static_cast<double>(frame->bytes) / average / frames;
    encoded.mean_qp += frame->qp;
  }
  encoded.mean_qp /= kept;
  encoded.dropped_share = 1 - static_cast<double>(kept) / frames;
  return encoded;
}

class Vp8ModelAt : public testing::TestWithParam<double> {};

TEST_P(Vp8ModelAt, KeepsItsRate) {
  Vp8Model model(640, 360, RandomStream(1, 0));
  Encode(model, GetParam(), 60);
  EXPECT_NEAR(Encode(model, GetParam(), 300).rate_over_target, 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(All, Vp8ModelAt, testing::Values(100e3, 250e3, 600e3, 1.5e6, 4e6),
                         [](const auto& info) { return std::to_string(static_cast<int>(info.param / 1000)) + "kbps"; });

// libvpx: 4.65, 2.00 and 3.66 average frames; quantizers 106, 27 and 13.
TEST(Vp8Model, BeginsWithKeyFramesOfVp8sSize) {
  const auto first = [](double rate_bps) {
    Vp8Model model(640, 360, RandomStream(1, 0));
    return Encode(model, rate_bps, 300);
  };
  EXPECT_NEAR(first(100e3).first_frame, 4.65, 0.7);
  EXPECT_NEAR(first(1e6).first_frame, 2, 0.4);
  EXPECT_NEAR(first(4e6).first_frame, 3.66, 1);
  EXPECT_GT(first(100e3).mean_qp, 100);
  EXPECT_NEAR(first(1e6).mean_qp, 27, 8);
}

TEST(Vp8Model, DropsFramesWhereTheCoarsestQuantizerIsTooLarge) {
  Vp8Model small(640, 360, RandomStream(1, 0)), large(1280, 720, RandomStream(1, 0));
  EXPECT_NEAR(Encode(small, 100e3, 600).dropped_share, 0.2, 0.1);
  EXPECT_GT(Encode(large, 100e3, 600).dropped_share, 0.5);
  Vp8Model other(640, 360, RandomStream(1, 0));
  EXPECT_EQ(Encode(other, 250e3, 600).dropped_share, 0);
}

// libvpx: 0.39 and 1.42 of the target in the first second.
TEST(Vp8Model, FollowsStepsAsVp8Does) {
  Vp8Model model(640, 360, RandomStream(1, 0));
  Encode(model, 500e3, 240);
  EXPECT_NEAR(Encode(model, 2.5e6, 30).rate_over_target, 0.39, 0.15);
  EXPECT_NEAR(Encode(model, 2.5e6, 30).rate_over_target, 1, 0.1);
  Encode(model, 2.5e6, 240);
  EXPECT_NEAR(Encode(model, 500e3, 30).rate_over_target, 1.42, 0.2);
}

TEST(Vp8Model, DependsOnTheSeed) {
  Vp8Model one(640, 360, RandomStream(1, 0)), same(640, 360, RandomStream(1, 0)), other(640, 360, RandomStream(2, 0));
  const double rate = Encode(one, 1e6, 30).rate_over_target;
  EXPECT_EQ(Encode(same, 1e6, 30).rate_over_target, rate);
  EXPECT_NE(Encode(other, 1e6, 30).rate_over_target, rate);
}

}  // namespace
}  // namespace weir::sim
