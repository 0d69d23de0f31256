// The clock of every time this process writes: CLOCK_MONOTONIC, in microseconds. libwebrtc's own clock is the same.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_MONOTONIC_CLOCK_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_MONOTONIC_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace weir::peer {

inline int64_t ClockMicros(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

inline int64_t MonotonicMicros() { return ClockMicros(CLOCK_MONOTONIC); }

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_MONOTONIC_CLOCK_H_
