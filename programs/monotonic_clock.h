// The clock of all times in programs' output: CLOCK_MONOTONIC, which libwebrtc uses too.
#ifndef WEIR_PROGRAMS_MONOTONIC_CLOCK_H_
#define WEIR_PROGRAMS_MONOTONIC_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace weir {

inline int64_t ClockNs(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

inline int64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }
inline int64_t MonotonicMicros() { return MonotonicNs() / 1000; }

}  // namespace weir

#endif  // WEIR_PROGRAMS_MONOTONIC_CLOCK_H_
