// Simulated time: ns-3 counts nanoseconds from 0 in a signed 64-bit integer; rate controllers count microseconds.
#ifndef WEIR_TRAINER_GYM_SIM_CORE_SIM_TIME_H_
#define WEIR_TRAINER_GYM_SIM_CORE_SIM_TIME_H_

#include <cstdint>
#include <limits>

#include "core/event.h"
#include "weir/units.h"

namespace weir::sim {

inline constexpr int64_t kNeverNs = std::numeric_limits<int64_t>::max();

inline Timestamp ToTimestamp(int64_t time_ns) { return Timestamp::Micros(time_ns / 1000); }

inline int64_t ToSimulatedNs(Timestamp time) {
  if (time.us() >= kNeverNs / 1000) return kNeverNs;
  return time.us() > 0 ? time.us() * 1000 : 0;
}

// The time that `size_bytes` take at `rate_bps`, which must be positive; rounded down.
inline int64_t TransmissionNs(int64_t size_bytes, int64_t rate_bps) {
  return static_cast<int64_t>(static_cast<__int128>(size_bytes) * 8'000'000'000 / rate_bps);
}

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_SIM_TIME_H_
