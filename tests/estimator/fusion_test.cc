#include "weir/fusion.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir {
namespace {

constexpr DataRate Kbps(int64_t kbps) { return DataRate::KilobitsPerSecond(kbps); }

FusedRate Fuse(const Fusion& fusion, DataRate pilot = Kbps(500)) {
  const std::vector<DataRate> copilots{Kbps(300), Kbps(900)};
  return FuseRates(fusion, pilot, copilots);
}

TEST(FusionTest, PilotOnlyIgnoresCopilots) {
  EXPECT_EQ(Fuse({}).rate, Kbps(500));
  EXPECT_FALSE(Fuse({}).from_copilot);
}

TEST(FusionTest, MaxAndMin) {
  EXPECT_EQ(Fuse({.kind = Fusion::Kind::kMax}).rate, Kbps(900));
  EXPECT_EQ(Fuse({.kind = Fusion::Kind::kMin}).rate, Kbps(300));
  EXPECT_TRUE(Fuse({.kind = Fusion::Kind::kMin}).from_copilot);
  EXPECT_FALSE(Fuse({.kind = Fusion::Kind::kMin}, Kbps(300)).from_copilot);
}

TEST(FusionTest, ClosestToTarget) {
  EXPECT_EQ(Fuse({.kind = Fusion::Kind::kClosest, .target = Kbps(2000)}).rate, Kbps(900));
  EXPECT_EQ(Fuse({.kind = Fusion::Kind::kClosest, .target = Kbps(1)}).rate, Kbps(300));
  // Equally far: the pilot.
  EXPECT_EQ(Fuse({.kind = Fusion::Kind::kClosest, .target = Kbps(700)}).rate, Kbps(500));
}

TEST(FusionTest, UsersFunction) {
  Fusion fusion{.kind = Fusion::Kind::kUser};
  EXPECT_EQ(Fuse(fusion).rate, Kbps(500));
  fusion.function = [](DataRate pilot, std::span<const DataRate> copilots) { return pilot + copilots[0]; };
  EXPECT_EQ(Fuse(fusion).rate, Kbps(800));
  EXPECT_TRUE(Fuse(fusion).from_copilot);
}

}  // namespace
}  // namespace weir
