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

// `bits` (>= 0) at `rate_bps` (> 0) in ns, or over ns (> 0) in bit/s; rounded down.
inline int64_t BitsOver(int64_t bits, int64_t rate_bps_or_ns) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  // A division of 64 bits is several times faster than one of 128, and does for every single packet.
  if (bits <= std::numeric_limits<int64_t>::max() / kNsPerSecond) return bits * kNsPerSecond / rate_bps_or_ns;
  return static_cast<int64_t>(static_cast<__int128>(bits) * kNsPerSecond / rate_bps_or_ns);
}

// The time that `size_bytes` take at `rate_bps`, which must be positive; rounded down.
inline int64_t TransmissionNs(int64_t size_bytes, int64_t rate_bps) { return BitsOver(8 * size_bytes, rate_bps); }

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_SIM_TIME_H_
