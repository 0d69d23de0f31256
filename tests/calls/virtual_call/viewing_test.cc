#include "virtual_call/viewing.h"

#include <gtest/gtest.h>

#include "nanoseconds.h"

namespace weir::sim {
namespace {

// A frame every 40 ms from one time to another, each 100 ms after its capture.
void Render(Viewing& viewing, int64_t from_ms, int64_t to_ms, double bitrate_bps = 1e6) {
  for (int64_t at_ms = from_ms; at_ms < to_ms; at_ms += 40) {
    viewing.OnFrame(
        {.rendered_time = at_ms * kMs, .capture_time = (at_ms - 100) * kMs, .bitrate_bps = bitrate_bps, .qp = 20});
  }
}

TEST(Viewing, AStepHasItsFramesAlone) {
  Viewing viewing;
  Render(viewing, 100, 1'000);
  ViewedStep step = viewing.Finish(200 * kMs);
  EXPECT_EQ(step.frames_rendered, 3) << "at 100, 140, 180 ms";
  EXPECT_EQ(step.frozen_share, 0.5) << "no picture before 100 ms";
  EXPECT_EQ(step.video_bitrate_bps, 1e6);
  EXPECT_NEAR(step.end_to_end_delay_ms, 100, 1e-9);
  EXPECT_EQ(step.qp, 20);
  step = viewing.Finish(400 * kMs);
  EXPECT_EQ(step.frames_rendered, 5);
  EXPECT_EQ(step.frozen_share, 0);
}

TEST(Viewing, AFreezeCountsFromItsBeginning) {
  Viewing viewing;
  Render(viewing, 0, 1'000);
  EXPECT_EQ(viewing.Finish(1'000 * kMs).frozen_share, 0);
  // The last frame came at 960 ms; 190 ms later it is a freeze.
  EXPECT_EQ(viewing.Finish(1'100 * kMs).frozen_share, 0);
  ViewedStep step = viewing.Finish(1'200 * kMs);
  EXPECT_NEAR(step.frozen_share, 2.4, 1e-9);
  EXPECT_EQ(step.frames_rendered, 0);
  EXPECT_NEAR(step.end_to_end_delay_ms, 100, 1e-9) << "held";
  EXPECT_EQ(viewing.Finish(1'300 * kMs).frozen_share, 1);
  Render(viewing, 1'350, 2'000, 2e6);
  step = viewing.Finish(1'400 * kMs);
  EXPECT_NEAR(step.frozen_share, 0.5, 1e-9);
  EXPECT_NEAR(step.video_bitrate_bps, 1.5e6, 1);
}

TEST(Viewing, AmongTheFirstFramesAFreezeIsLongerThanASecond) {
  Viewing viewing;
  Render(viewing, 0, 80);
  EXPECT_EQ(viewing.Finish(1'000 * kMs).frozen_share, 0);
  EXPECT_NEAR(viewing.Finish(1'100 * kMs).frozen_share, 10.6, 1e-9);
}

TEST(Viewing, APauseHasNoPicture) {
  Viewing viewing;
  Render(viewing, 0, 1'000);
  viewing.Pause(500 * kMs);
  ViewedStep step = viewing.Finish(1'000 * kMs);
  EXPECT_EQ(step.frozen_share, 0.5);
  EXPECT_EQ(step.frames_rendered, 13);
  viewing.Resume(1'000 * kMs);
  Render(viewing, 1'040, 1'400);
  step = viewing.Finish(1'200 * kMs);
  EXPECT_EQ(step.frames_rendered, 3) << "those captured before it resumed are not seen";
  EXPECT_NEAR(step.frozen_share, 0.6, 1e-9);
}

}  // namespace
}  // namespace weir::sim
