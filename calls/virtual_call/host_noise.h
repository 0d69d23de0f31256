// Timing noise of a host in a call: packets wait while the host is busy, and the camera is late.
#ifndef WEIR_CALLS_VIRTUAL_CALL_HOST_NOISE_H_
#define WEIR_CALLS_VIRTUAL_CALL_HOST_NOISE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "core/random.h"
#include "core/sim_time.h"

namespace weir::sim {

// Models a host after the logs of undisturbed real calls (`python -m weir_calls.call.media.host_delays`): how late
// packets were delivered, and how late pictures were captured. The noise depends on the machine's load, not on the
// sender: each host, and so each seed, has its own share of late packets.
class HostNoise {
 public:
  explicit HostNoise(RandomStream random) : random_(random) {
    const double late_share =
        std::min(kMedianLateShare * std::exp(kLateShareDeviation * random_.Gaussian()), kMaxLateShare);
    mean_gap_ns_ = kMeanStallNs * (kLateInStall / late_share - 1);
    next_stall_ = kTimeZero + Gap();
  }

  // Draws how long a packet that arrives at `arrival` waits. Arrivals must be in order, or nearly.
  SimDuration Delay(SimTime arrival) {
    while (next_stall_ <= arrival) {
      stall_end_ = next_stall_ + Stall();
      next_stall_ = stall_end_ + Gap();
    }
    // Later packets do not overtake.
    last_ = std::max({last_, arrival + Draw(kWakeUpNs), stall_end_});
    return last_ - arrival;
  }
  // Draws how late a picture is captured.
  SimDuration CameraLateness() { return Draw(kCameraNs); }

 private:
  struct Quantile {
    double share;
    double ns;
  };
  // Wake-up delays of packets outside stalls.
  static constexpr std::array<Quantile, 4> kWakeUpNs{{{0, 0}, {0.34, 62.5e3}, {0.93, 125e3}, {1, 250e3}}};
  static constexpr std::array<Quantile, 11> kCameraNs{{{0, 0},
                                                       {0.93, 0.3e6},
                                                       {0.95, 0.5e6},
                                                       {0.96, 0.7e6},
                                                       {0.97, 1.2e6},
                                                       {0.98, 2.2e6},
                                                       {0.985, 3e6},
                                                       {0.99, 5e6},
                                                       {0.995, 8e6},
                                                       {0.999, 14e6},
                                                       {1, 16e6}}};
  // The share of a host's packets that wait longer than kShortestStallNs; it has a log-normal distribution over hosts.
  static constexpr double kMedianLateShare = 0.013;
  static constexpr double kLateShareDeviation = 1.2;
  static constexpr double kMaxLateShare = 0.14;
  // Lengths of stalls have a Pareto distribution of shape 1 between these. It reproduces the waiting times of the logs:
  // about as many between 0.25 and 0.5 ms as between 0.5 and 1 ms or 1 and 2 ms, and few above 8 ms.
  static constexpr double kShortestStallNs = 0.25e6;
  static constexpr double kLongestStallNs = 16e6;
  // The mean of that distribution, and the share of packets in stalls that wait for longer than the shortest.
  static constexpr double kMeanStallNs = 1.056e6;
  static constexpr double kLateInStall = 0.763;

  template <size_t kSize>
  SimDuration Draw(const std::array<Quantile, kSize>& quantiles) {
    const double share = random_.Uniform();
    const auto above = std::ranges::upper_bound(quantiles, share, {}, &Quantile::share);
    const Quantile& low = *(above - 1);
    return Whole(low.ns + (share - low.share) / (above->share - low.share) * (above->ns - low.ns));
  }
  SimDuration Stall() {
    const double share = random_.Uniform(0, 1 - kShortestStallNs / kLongestStallNs);
    return Whole(kShortestStallNs / (1 - share));
  }
  SimDuration Gap() { return Whole(random_.Exponential(mean_gap_ns_)); }
  static SimDuration Whole(double ns) { return SimDuration::Nanos(static_cast<int64_t>(ns)); }

  RandomStream random_;
  double mean_gap_ns_ = 0;
  SimTime next_stall_ = kTimeZero;
  SimTime stall_end_ = kTimeZero;
  SimTime last_ = kTimeZero;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_HOST_NOISE_H_
