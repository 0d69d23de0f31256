// How an objective weighs use of the link against its queue. What becomes of it: serve_test.cc.
#include "link/oracle_rate.h"

#include <gtest/gtest.h>

namespace weir::sim {
namespace {

TEST(OracleRateTest, PresetsHaveTheirAims) {
  const OracleAim balanced = AimOf(kBalanced), throughput = AimOf(kThroughput), latency = AimOf(kLatency);
  EXPECT_DOUBLE_EQ(balanced.utilisation, 0.96);
  EXPECT_EQ(balanced.drain_ns, 50'000'000);
  EXPECT_DOUBLE_EQ(throughput.utilisation, 1.0);
  EXPECT_EQ(throughput.drain_ns, 200'000'000);
  EXPECT_DOUBLE_EQ(latency.utilisation, 0.85);
  EXPECT_EQ(latency.drain_ns, 30'000'000);
}

TEST(OracleRateTest, MoreWeightOfThroughputAsksForMore) {
  OracleAim before{.utilisation = 0, .drain_ns = 0};
  for (int percent = 5; percent <= 85; percent += 5) {
    const float weight = static_cast<float>(percent) / 100;
    const OracleAim aim = AimOf({.throughput = weight, .latency = 0.9f - weight, .loss = 0.1f});
    EXPECT_GE(aim.utilisation, before.utilisation) << percent;
    EXPECT_GE(aim.drain_ns, before.drain_ns) << percent;
    EXPECT_GE(aim.utilisation, 0.85);
    EXPECT_LE(aim.utilisation, 1.0);
    before = aim;
  }
  EXPECT_EQ(AimOf({.throughput = 0.36f, .latency = 0.04f, .loss = 0.6f}).drain_ns, AimOf(kThroughput).drain_ns);
}

}  // namespace
}  // namespace weir::sim
