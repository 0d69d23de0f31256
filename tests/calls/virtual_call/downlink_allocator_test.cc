#include "virtual_call/downlink_allocator.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
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
  streams.reserve(forwarded.size());
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

// An allocator with its streams and its time.
class LivekitDownlinkAllocatorTest : public ::testing::Test {
 protected:
  // Calls every 50 ms, with a target that changes by `step_kbps` each 200 ms.
  void Run(int64_t milliseconds, int64_t kbps, int64_t step_kbps = 0) {
    for (int64_t passed = 0; passed < milliseconds; passed += 50, now_ms_ += 50) {
      std::vector<DownlinkStream> streams{Stream(layers_[0]), Stream(layers_[1])};
      streams[1].packets = packets_ += 10;
      streams[1].repeated_retransmissions = repeated_ += repeated_each_time_;
      const auto target = DataRate::KilobitsPerSecond(kbps + step_kbps * (passed / 200));
      layers_ = allocator_->Allocate(target, streams, Timestamp::Millis(now_ms_));
      probes_ += std::exchange(desired_, allocator_->desired_rate().total) < allocator_->desired_rate().total ? 1 : 0;
    }
  }

  const std::unique_ptr<DownlinkAllocator> allocator_ = MakeLivekitDownlinkAllocator();
  std::vector<int> layers_{-1, -1};
  int64_t now_ms_ = 1000;
  int64_t packets_ = 0;
  int64_t repeated_ = 0;
  int64_t repeated_each_time_ = 0;
  DataRate desired_ = DataRate::Zero();
  int probes_ = 0;
};

TEST_F(LivekitDownlinkAllocatorTest, BeginsWithAllLayersAndIgnoresALowTarget) {
  Run(5000, 600);
  EXPECT_EQ(layers_, (std::vector<int>{2, 2}));
}

TEST_F(LivekitDownlinkAllocatorTest, AFallIsSharedAndNoStreamIsPaused) {
  Run(3000, 4000, -200);
  // The twelfth report is 1,800 kbps, of which both streams have 500; a highest layer costs 1,000 more.
  EXPECT_EQ(layers_, (std::vector<int>{1, 1}));
  Run(2400, 200, -10);
  EXPECT_EQ(layers_, (std::vector<int>{0, 0}));
}

TEST_F(LivekitDownlinkAllocatorTest, RepeatedNacksForTwoSecondsAreCongestion) {
  Run(1000, 2000);
  repeated_each_time_ = 3;
  Run(2000, 2000);
  EXPECT_EQ(layers_, (std::vector<int>{2, 2}));
  Run(300, 2000);
  EXPECT_EQ(layers_, (std::vector<int>{2, 1}));  // of 2,000, which is less than 3,000 (1 - 0.4 * 0.3)
}

TEST_F(LivekitDownlinkAllocatorTest, AProbeThatDoesNotCongestRaisesAStream) {
  Run(2400, 4000, -200);
  const std::vector<int> lowered = layers_;
  EXPECT_NE(lowered, (std::vector<int>{2, 2}));
  Run(10'000, 5000);
  EXPECT_EQ(layers_, (std::vector<int>{2, 2}));
  EXPECT_GE(probes_, 1);
}

TEST_F(LivekitDownlinkAllocatorTest, ProbesThatCongestBecomeRarer) {
  Run(2400, 4000, -200);
  EXPECT_EQ(layers_, (std::vector<int>{1, 1}));
  probes_ = 0;
  // The reports fall for a minute, but not below what is forwarded.
  for (int i = 0; i < 1200; ++i) Run(50, 2300 - i);
  EXPECT_EQ(layers_, (std::vector<int>{1, 1}));
  EXPECT_GE(probes_, 3);
  EXPECT_LE(probes_, 12);  // of 17 at the shortest interval
}

TEST(WeirDownlinkAllocator, OnlyTheFirstStreamIsNeverPaused) {
  const auto allocator = MakeWeirDownlinkAllocator();
  EXPECT_EQ(Allocate(*allocator, 20, {-1, -1}, 1), (std::vector<int>{0, -1}));
}

}  // namespace
}  // namespace weir::sim
