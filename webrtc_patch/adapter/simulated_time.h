// libwebrtc's global clock, set to the simulated time while a controller works.
//
// Part of GCC (its detector of application-limited regions) asks libwebrtc's global clock for the time instead of
// taking it from the message at hand. In simulated time that would compare simulated times with the uptime of the
// machine: results would differ from run to run, and probing would mostly fail to happen.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_SIMULATED_TIME_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_SIMULATED_TIME_H_

#include "api/units/timestamp.h"

namespace weir::adapter {

// While one lives, libwebrtc's clock shows `now` to the thread that made it; other threads see the time they saw
// before. One at a time in a thread.
class ScopedSimulatedTime {
 public:
  explicit ScopedSimulatedTime(webrtc::Timestamp now);
  ~ScopedSimulatedTime();
  ScopedSimulatedTime(const ScopedSimulatedTime&) = delete;
  ScopedSimulatedTime& operator=(const ScopedSimulatedTime&) = delete;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_SIMULATED_TIME_H_
