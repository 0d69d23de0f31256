// Noise of a host in the times of a call: packets wait while it does something else, and a camera is late.
#ifndef WEIR_SIMULATOR_VIRTUAL_CALL_HOST_NOISE_H_
#define WEIR_SIMULATOR_VIRTUAL_CALL_HOST_NOISE_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/random.h"

namespace weir::sim {

// The constants are assumptions about an idle machine; they are not yet fitted to logs of real calls.
class HostNoise {
 public:
  explicit HostNoise(RandomStream random) : random_(random) { next_stall_ns_ = Gap(); }

  // For how long a packet that arrives then waits. Arrivals come in order, or nearly.
  int64_t DelayNs(int64_t arrival_ns) {
    while (next_stall_ns_ <= arrival_ns) {
      stall_end_ns_ = next_stall_ns_ + static_cast<int64_t>(random_.Exponential(kMeanStallNs));
      next_stall_ns_ = stall_end_ns_ + Gap();
    }
    const auto wake_up_ns = static_cast<int64_t>(random_.Uniform(0, kMaxWakeUpNs));
    // Later packets do not overtake.
    last_ns_ = std::max(last_ns_, std::max(arrival_ns, stall_end_ns_) + wake_up_ns);
    return last_ns_ - arrival_ns;
  }
  // By how much a picture is captured late, in ns.
  int64_t CameraLatenessNs() { return static_cast<int64_t>(std::abs(random_.Gaussian()) * kCameraDeviationNs); }

 private:
  static constexpr double kMeanStallNs = 1.5e6;
  static constexpr double kMeanGapNs = 1e9;
  static constexpr double kMaxWakeUpNs = 120e3;
  static constexpr double kCameraDeviationNs = 0.5e6;

  int64_t Gap() { return static_cast<int64_t>(random_.Exponential(kMeanGapNs)); }

  RandomStream random_;
  int64_t next_stall_ns_ = 0;
  int64_t stall_end_ns_ = 0;
  int64_t last_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_VIRTUAL_CALL_HOST_NOISE_H_
