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
  EXPECT_EQ(Fuse({.kind = FusionKind::kMax}).rate, Kbps(900));
  EXPECT_EQ(Fuse({.kind = FusionKind::kMin}).rate, Kbps(300));
  EXPECT_TRUE(Fuse({.kind = FusionKind::kMin}).from_copilot);
  EXPECT_FALSE(Fuse({.kind = FusionKind::kMin}, Kbps(300)).from_copilot);
}

TEST(FusionTest, ClosestToTarget) {
  EXPECT_EQ(Fuse({.kind = FusionKind::kClosest, .target = Kbps(2000)}).rate, Kbps(900));
  EXPECT_EQ(Fuse({.kind = FusionKind::kClosest, .target = Kbps(1)}).rate, Kbps(300));
  // Equally far: the pilot.
  EXPECT_EQ(Fuse({.kind = FusionKind::kClosest, .target = Kbps(700)}).rate, Kbps(500));
}

TEST(FusionTest, MedianAndMean) {
  EXPECT_EQ(Fuse({.kind = FusionKind::kMedian}).rate, Kbps(500));
  EXPECT_EQ(Fuse({.kind = FusionKind::kMedian}, Kbps(100)).rate, Kbps(300));
  EXPECT_NEAR(static_cast<double>(Fuse({.kind = FusionKind::kMean}, Kbps(100)).rate.bps()), 300'000, 2);
  const std::vector<DataRate> one{Kbps(400)};
  // The median of an even number is geometric, since actions are exponents.
  EXPECT_NEAR(static_cast<double>(FuseRates({.kind = FusionKind::kMedian}, Kbps(100), one).rate.bps()), 200'000, 2);
  const std::vector<DataRate> same(7, DataRate::BitsPerSecond(123'457));
  EXPECT_FALSE(FuseRates({.kind = FusionKind::kMean}, same[0], same).from_copilot);
}

TEST(FusionTest, WithoutCopilotsEveryKindIsThePilots) {
  for (size_t kind = 0; kind < kFusionNames.size(); ++kind) {
    const Fusion fusion{.kind = static_cast<FusionKind>(kind), .target = Kbps(1)};
    EXPECT_EQ(FuseRates(fusion, Kbps(500), {}).rate, Kbps(500)) << kFusionNames[kind];
  }
}

TEST(FusionTest, UsersFunction) {
  FusionFunction function;
  const Fusion fusion{.kind = FusionKind::kUser, .function = &function};
  EXPECT_EQ(Fuse(fusion).rate, Kbps(500));
  function = [](DataRate pilot, std::span<const DataRate> copilots) { return pilot + (copilots[1] - pilot) * 0.75; };
  EXPECT_EQ(Fuse(fusion).rate, Kbps(800));
  EXPECT_TRUE(Fuse(fusion).from_copilot);
  function = [](DataRate pilot, std::span<const DataRate>) { return pilot * 10; };
  EXPECT_EQ(Fuse(fusion).rate, Kbps(500));
  EXPECT_TRUE(Fuse(fusion).fault);
}

}  // namespace
}  // namespace weir
