#include <gtest/gtest.h>

#include "weir/network_controller.h"

namespace weir {
namespace {

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

}  // namespace
}  // namespace weir
