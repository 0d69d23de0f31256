#include "weir/objective.h"

#include <gtest/gtest.h>

#include <limits>

namespace weir {
namespace {

TEST(ObjectiveTest, NormalizesToASumOfOne) {
  const std::optional<Objective> objective = NormalizedObjective(2, 1, 1);
  ASSERT_TRUE(objective);
  EXPECT_FLOAT_EQ(objective->throughput, 0.5f);
  EXPECT_FLOAT_EQ(objective->latency, 0.25f);
  EXPECT_FLOAT_EQ(objective->loss, 0.25f);
  const float max = std::numeric_limits<float>::max();
  EXPECT_TRUE(NormalizedObjective(max, max, max));
}

TEST(ObjectiveTest, RefusesWhatIsNoWeight) {
  EXPECT_FALSE(NormalizedObjective(1, 0, 0));
  EXPECT_FALSE(NormalizedObjective(0.5f, 0.6f, -0.1f));
  EXPECT_FALSE(NormalizedObjective(std::numeric_limits<float>::quiet_NaN(), 1, 1));
  EXPECT_FALSE(NormalizedObjective(std::numeric_limits<float>::infinity(), 1, 1));
  // Rounds to <1, 0, 0>.
  EXPECT_FALSE(NormalizedObjective(1e30f, 1e-30f, 1e-30f));
}

TEST(ObjectiveTest, KnowsItsPresets) {
  EXPECT_EQ(ObjectivePreset("balanced"), kBalanced);
  EXPECT_EQ(ObjectivePreset("throughput"), kThroughput);
  EXPECT_EQ(ObjectivePreset("latency"), kLatency);
  EXPECT_FALSE(ObjectivePreset("Balanced"));
  EXPECT_FALSE(ObjectivePreset(""));
}

}  // namespace
}  // namespace weir
