// Units, constraints and objectives.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {
namespace {

TEST(UnitsTest, ConvertsBetweenSizeTimeAndRate) {
  EXPECT_EQ(DataSize::Bytes(1250) / TimeDelta::Millis(10), DataRate::KilobitsPerSecond(1000));
  EXPECT_EQ(DataSize::Bytes(1250) / DataRate::KilobitsPerSecond(1000), TimeDelta::Millis(10));
  EXPECT_EQ(DataRate::KilobitsPerSecond(1000) * TimeDelta::Millis(10), DataSize::Bytes(1250));
}

TEST(UnitsTest, SaturatesInsteadOfOverflowing) {
  const Timestamp late = Timestamp::Micros(std::numeric_limits<int64_t>::max() - 1);
  EXPECT_TRUE((late + TimeDelta::Seconds(1)).IsPlusInfinity());
  EXPECT_TRUE((Timestamp::Micros(std::numeric_limits<int64_t>::min() + 1) - TimeDelta::Seconds(1)).IsMinusInfinity());
  EXPECT_TRUE((late - Timestamp::Micros(-10)).IsPlusInfinity());
  EXPECT_TRUE(TimeDelta::Seconds(std::numeric_limits<int64_t>::max() / 2).IsPlusInfinity());
  EXPECT_TRUE((DataRate::BitsPerSecond(int64_t{1} << 62) * 4.0).IsPlusInfinity());
}

TEST(UnitsTest, InfinityAbsorbs) {
  EXPECT_TRUE((TimeDelta::PlusInfinity() - TimeDelta::Seconds(1)).IsPlusInfinity());
  EXPECT_TRUE((Timestamp::Micros(0) - TimeDelta::PlusInfinity()).IsMinusInfinity());
  EXPECT_TRUE((Timestamp::Micros(0) - Timestamp::MinusInfinity()).IsPlusInfinity());
  EXPECT_TRUE((Timestamp::PlusInfinity() - Timestamp::PlusInfinity()).IsPlusInfinity());
}

TEST(UnitsTest, NanBecomesZero) { EXPECT_TRUE(DataRate::BitsPerSecondF(std::nan("")).IsZero()); }

TargetRateConstraints Constraints(DataRate min, DataRate start, DataRate max) { return {min, start, max}; }

constexpr DataRate k30 = DataRate::KilobitsPerSecond(30);
constexpr DataRate k300 = DataRate::KilobitsPerSecond(300);

TEST(ConstraintsTest, MovesTheStartRateIntoTheBounds) {
  EXPECT_EQ(Validated(Constraints(k30, DataRate::Zero(), k300)).value().start_rate, k30);
  EXPECT_EQ(Validated(Constraints(k30, DataRate::PlusInfinity(), k300)).value().start_rate, k300);
  EXPECT_EQ(Validated(Constraints(k30, k300, k300)).value().start_rate, k300);
}

TEST(ConstraintsTest, RefusesImpossibleBounds) {
  EXPECT_FALSE(Validated(Constraints(k300, k300, k30)));
  EXPECT_FALSE(Validated(Constraints(DataRate::Zero(), k300, k300)));
  EXPECT_FALSE(Validated(Constraints(DataRate::BitsPerSecond(-5), k300, k300)));
  EXPECT_FALSE(Validated(Constraints(k30, k300, DataRate::PlusInfinity())));
  EXPECT_FALSE(Validated(Constraints(DataRate::MinusInfinity(), k300, k300)));
}

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

}  // namespace
}  // namespace weir
