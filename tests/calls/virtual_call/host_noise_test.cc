#include "virtual_call/host_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace weir::sim {
namespace {

constexpr int kHosts = 200;
constexpr int kPackets = 10'000;
constexpr SimDuration kInterval = SimDuration::Millis(3);

std::vector<SimDuration> Delays(HostNoise noise) {
  std::vector<SimDuration> delays;
  for (int i = 0; i < kPackets; ++i) delays.push_back(noise.Delay(kTimeZero + i * kInterval));
  return delays;
}

double ShareOver(const std::vector<SimDuration>& times, double limit_ns) {
  return static_cast<double>(
             std::ranges::count_if(times, [&](SimDuration one) { return static_cast<double>(one.ns()) > limit_ns; })) /
         static_cast<double>(times.size());
}

TEST(HostNoise, PacketsWaitAndDoNotOvertake) {
  const std::vector<SimDuration> delays = Delays(HostNoise(RandomStream(1, 2)));
  EXPECT_GE(delays[0], SimDuration::Zero());
  for (size_t i = 1; i < delays.size(); ++i) {
    EXPECT_GE(delays[i], SimDuration::Zero());
    EXPECT_GE(delays[i] + kInterval, delays[i - 1]);
  }
}

// The mean of 84 undisturbed calls from Chromium and 98 native ones (calls/weir_calls/call/media/host_delays.py).
TEST(HostNoise, PacketsWaitAsInRealCalls) {
  struct Bound {
    double ms;
    double share;
  };
  constexpr std::array<Bound, 8> kLogged{{{0.0625, 0.650},
                                          {0.125, 0.088},
                                          {0.25, 0.0238},
                                          {0.5, 0.0181},
                                          {1, 0.0129},
                                          {2, 0.0084},
                                          {4, 0.0047},
                                          {8, 0.0018}}};
  std::vector<SimDuration> delays;
  std::vector<double> late_shares;
  for (int host = 0; host < kHosts; ++host) {
    const std::vector<SimDuration> one = Delays(HostNoise(RandomStream(static_cast<uint64_t>(host), 2)));
    late_shares.push_back(ShareOver(one, 0.25e6));
    delays.insert(delays.end(), one.begin(), one.end());
  }
  for (const auto& [ms, share] : kLogged) EXPECT_NEAR(ShareOver(delays, ms * 1e6), share, 0.25 * share) << ms;
  std::ranges::sort(late_shares);
  EXPECT_NEAR(late_shares[kHosts / 10], 0.003, 0.0015);
  EXPECT_NEAR(late_shares[kHosts / 2], 0.0115, 0.004);
  EXPECT_NEAR(late_shares[kHosts * 9 / 10], 0.067, 0.02);
}

TEST(HostNoise, PicturesAreLateAsInRealCalls) {
  HostNoise noise(RandomStream(1, 2));
  std::vector<SimDuration> late;
  for (int i = 0; i < 100'000; ++i) late.push_back(noise.CameraLateness());
  EXPECT_NEAR(ShareOver(late, 5e6), 0.01, 0.002);
  EXPECT_NEAR(ShareOver(late, 2.2e6), 0.02, 0.003);
  EXPECT_EQ(ShareOver(late, 33e6), 0);
}

TEST(HostNoise, DependsOnTheSeed) {
  EXPECT_EQ(Delays(HostNoise(RandomStream(1, 2))), Delays(HostNoise(RandomStream(1, 2))));
  EXPECT_NE(Delays(HostNoise(RandomStream(1, 2))), Delays(HostNoise(RandomStream(2, 2))));
}

}  // namespace
}  // namespace weir::sim
