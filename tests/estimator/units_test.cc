#include "weir/units.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

}  // namespace
}  // namespace weir
