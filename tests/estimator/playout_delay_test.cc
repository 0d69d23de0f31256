#include "weir/playout_delay.h"

#include <gtest/gtest.h>

#include <limits>

#include "weir.h"

namespace weir {
namespace {

TimeDelta Max(int64_t jitter_ms, int64_t round_trip_ms, int64_t previous_ms = 0) {
  return MaxPlayoutDelay({.jitter = TimeDelta::Millis(jitter_ms),
                          .round_trip_time = TimeDelta::Millis(round_trip_ms),
                          .frame_interval = TimeDelta::Millis(33)},
                         TimeDelta::Millis(previous_ms));
}

TEST(PlayoutDelay, CoversThreeTimesTheJitterTwoRoundTripsAndAFrame) {
  EXPECT_EQ(Max(10, 60), TimeDelta::Millis(190)) << "30 + 120 + 33, in whole units of 10 ms";
}

TEST(PlayoutDelay, IsAtLeastWhatLipSyncNeedsAndAtMostWhatKeepsItInMostCalls) {
  EXPECT_EQ(Max(0, 0), TimeDelta::Millis(100));
  EXPECT_EQ(Max(0, 600), TimeDelta::Millis(250));
  EXPECT_EQ(Max(200, 0), TimeDelta::Millis(250));
}

TEST(PlayoutDelay, RisesAtOnceAndFallsByAUnitForEachReport) {
  EXPECT_EQ(Max(10, 60, 120), TimeDelta::Millis(190));
  EXPECT_EQ(Max(10, 60, 240), TimeDelta::Millis(230));
  EXPECT_EQ(Max(10, 60, 195), TimeDelta::Millis(190));
}

TEST(PlayoutDelay, ImpossibleReportsAreBounded) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(weir_max_playout_delay_us(kMost, kMost, kMost, kMost), 250'000);
  EXPECT_EQ(weir_max_playout_delay_us(kLeast, kLeast, kLeast, kLeast), 100'000);
  EXPECT_EQ(weir_max_playout_delay_us(10'000, 60'000, 33'000, 0), 190'000);
}

}  // namespace
}  // namespace weir
