#include "weir/action.h"

#include <gtest/gtest.h>

#include <limits>

namespace weir {
namespace {

constexpr DataRate kMin = DataRate::KilobitsPerSecond(10);
constexpr DataRate kMax = DataRate::KilobitsPerSecond(10'000);
constexpr DataRate kCurrent = DataRate::KilobitsPerSecond(1000);

std::optional<DataRate> Apply(ActionKind kind, std::vector<float> action, std::vector<float> multipliers = {}) {
  ActionMapping mapping{kind, kMin, kMax, 0.025, std::move(multipliers)};
  return mapping.Apply(action, kCurrent);
}

TEST(ActionTest, RateIsBounded) {
  EXPECT_EQ(Apply(ActionKind::kRate, {500'000}), DataRate::KilobitsPerSecond(500));
  EXPECT_EQ(Apply(ActionKind::kRate, {-1}), kMin);
  EXPECT_EQ(Apply(ActionKind::kRate, {1e30f}), kMax);
}

TEST(ActionTest, LogRateIsGeometric) {
  EXPECT_EQ(Apply(ActionKind::kLogRate, {-1}), kMin);
  EXPECT_EQ(Apply(ActionKind::kLogRate, {1}), kMax);
  EXPECT_EQ(Apply(ActionKind::kLogRate, {7}), kMax);
  EXPECT_NEAR(static_cast<double>(Apply(ActionKind::kLogRate, {0})->bps()), 316'228, 1);
}

TEST(ActionTest, RelativeIsMoccEquationOne) {
  EXPECT_EQ(Apply(ActionKind::kRelative, {1}), DataRate::BitsPerSecond(1'025'000));
  EXPECT_EQ(Apply(ActionKind::kRelative, {-1}), DataRate::BitsPerSecond(975'610));
  EXPECT_EQ(Apply(ActionKind::kRelative, {0}), kCurrent);
}

TEST(ActionTest, DiscreteTakesAnIndexOrScores) {
  const std::vector<float> multipliers{1, 0.5f, 2};
  EXPECT_EQ(Apply(ActionKind::kDiscrete, {1}, multipliers), DataRate::KilobitsPerSecond(500));
  EXPECT_EQ(Apply(ActionKind::kDiscrete, {-3, -2, -1}, multipliers), DataRate::KilobitsPerSecond(2000));
  EXPECT_EQ(Apply(ActionKind::kDiscrete, {5, 5, 1}, multipliers), kCurrent);
  EXPECT_FALSE(Apply(ActionKind::kDiscrete, {3}, multipliers));
  EXPECT_FALSE(Apply(ActionKind::kDiscrete, {-1}, multipliers));
  EXPECT_FALSE(Apply(ActionKind::kDiscrete, {0.5f}, multipliers));
  EXPECT_FALSE(Apply(ActionKind::kDiscrete, {1, 2}, multipliers));
  EXPECT_FALSE(Apply(ActionKind::kDiscrete, {0}));
}

TEST(ActionTest, RefusesWhatIsNoAction) {
  for (const ActionKind kind :
       {ActionKind::kRate, ActionKind::kLogRate, ActionKind::kRelative, ActionKind::kDiscrete}) {
    EXPECT_FALSE(Apply(kind, {}, {1, 2}));
    EXPECT_FALSE(Apply(kind, {std::numeric_limits<float>::quiet_NaN()}, {1, 2}));
    EXPECT_FALSE(Apply(kind, {std::numeric_limits<float>::infinity()}, {1, 2}));
    EXPECT_FALSE(Apply(kind, {1, 2, 3, 4}, {1, 2}));
  }
}

TEST(ActionTest, NamesRoundTrip) {
  for (const ActionKind kind :
       {ActionKind::kRate, ActionKind::kLogRate, ActionKind::kRelative, ActionKind::kDiscrete}) {
    EXPECT_EQ(ParseActionKind(ToString(kind)), kind);
  }
  EXPECT_FALSE(ParseActionKind("rate"));
}

}  // namespace
}  // namespace weir
