#include "virtual_call/downlink_allocator.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::sim {
namespace {

DownlinkStream Stream(int forwarded) {
  return {
      .rates = {DataRate::KilobitsPerSecond(150), DataRate::KilobitsPerSecond(500), DataRate::KilobitsPerSecond(1500)},
      .forwarded = forwarded};
}

std::vector<int> Allocate(DownlinkAllocator& allocator, int64_t kbps, const std::vector<int>& forwarded,
                          int64_t seconds) {
  std::vector<DownlinkStream> streams;
  for (const int layer : forwarded) streams.push_back(Stream(layer));
  return allocator.Allocate(DataRate::KilobitsPerSecond(kbps), streams, Timestamp::Seconds(seconds));
}

TEST(MediasoupDownlinkAllocator, StreamsTakeTurnsWithoutAMargin) {
  const auto allocator = MakeMediasoupDownlinkAllocator();
  EXPECT_EQ(Allocate(*allocator, 650, {-1, -1}, 1), (std::vector<int>{1, 0}));
  EXPECT_EQ(Allocate(*allocator, 1000, {1, 0}, 3), (std::vector<int>{1, 1}));
  EXPECT_EQ(Allocate(*allocator, 140, {1, 1}, 5), (std::vector<int>{-1, -1}));
  EXPECT_EQ(allocator->desired_rate().total, DataRate::KilobitsPerSecond(3000));
}

TEST(MediasoupDownlinkAllocator, SmallChangesWaitForASecond) {
  const auto allocator = MakeMediasoupDownlinkAllocator();
  EXPECT_EQ(Allocate(*allocator, 500, {-1}, 1), std::vector<int>{1});
  std::vector<DownlinkStream> streams{Stream(1)};
  const Timestamp soon = Timestamp::Seconds(1) + TimeDelta::Millis(500);
  EXPECT_EQ(allocator->Allocate(DataRate::KilobitsPerSecond(400), streams, soon), std::vector<int>{1});
  EXPECT_EQ(allocator->Allocate(DataRate::KilobitsPerSecond(290), streams, soon), std::vector<int>{0});
}

TEST(MediasoupDownlinkAllocator, ALoweredStreamGainsNothingForTenSeconds) {
  const auto allocator = MakeMediasoupDownlinkAllocator();
  EXPECT_EQ(Allocate(*allocator, 1500, {-1}, 0), std::vector<int>{2});
  EXPECT_EQ(Allocate(*allocator, 600, {2}, 9), std::vector<int>{1});
  EXPECT_EQ(Allocate(*allocator, 1600, {1}, 18), std::vector<int>{1});
  EXPECT_EQ(Allocate(*allocator, 1600, {1}, 20), std::vector<int>{2});
}

TEST(WeirDownlinkAllocator, OnlyTheFirstStreamIsNeverPaused) {
  const auto allocator = MakeWeirDownlinkAllocator();
  EXPECT_EQ(Allocate(*allocator, 20, {-1, -1}, 1), (std::vector<int>{0, -1}));
}

}  // namespace
}  // namespace weir::sim
