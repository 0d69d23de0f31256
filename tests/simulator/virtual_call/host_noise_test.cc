#include "virtual_call/host_noise.h"

#include <gtest/gtest.h>

namespace weir::sim {
namespace {

TEST(HostNoise, PacketsWaitAndDoNotOvertake) {
  HostNoise noise(RandomStream(1, 2));
  int64_t last_ns = 0;
  double waited_ns = 0;
  constexpr int kPackets = 60'000;
  for (int i = 0; i < kPackets; ++i) {
    const int64_t arrival_ns = int64_t{i} * 1'000'000;
    const int64_t delay_ns = noise.DelayNs(arrival_ns);
    EXPECT_GE(delay_ns, 0);
    EXPECT_GE(arrival_ns + delay_ns, last_ns);
    last_ns = arrival_ns + delay_ns;
    waited_ns += static_cast<double>(delay_ns);
  }
  // Half of the longest time to wake up, and now and then a stall.
  EXPECT_GT(waited_ns / kPackets, 50e3);
  EXPECT_LT(waited_ns / kPackets, 100e3);
}

TEST(HostNoise, DependsOnTheSeed) {
  HostNoise one(RandomStream(1, 2)), same(RandomStream(1, 2)), other(RandomStream(2, 2));
  EXPECT_EQ(one.DelayNs(0), same.DelayNs(0));
  EXPECT_NE(one.DelayNs(1'000'000), other.DelayNs(1'000'000));
}

}  // namespace
}  // namespace weir::sim
