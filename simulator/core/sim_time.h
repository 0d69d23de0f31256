// Simulated time. As ns-3, the simulator counts nanoseconds from 0 in a signed 64-bit integer; controllers count
// microseconds.
#ifndef WEIR_SIMULATOR_CORE_SIM_TIME_H_
#define WEIR_SIMULATOR_CORE_SIM_TIME_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "weir/units.h"

namespace weir::sim {

using SimTime = BasicTimestamp<1'000'000'000>;
using SimDuration = BasicTimeDelta<1'000'000'000>;

// The beginning of a simulation.
inline constexpr SimTime kTimeZero = SimTime::Nanos(0);
inline constexpr SimTime kNever = SimTime::PlusInfinity();
inline constexpr SimDuration kForever = SimDuration::PlusInfinity();

// Conversions to microseconds round toward zero.
inline Timestamp ToTimestamp(SimTime time) { return Timestamp::Micros(time.us()); }
inline TimeDelta ToTimeDelta(SimDuration duration) { return TimeDelta::Micros(duration.us()); }
inline SimDuration ToSimDuration(TimeDelta duration) { return SimDuration::Micros(duration.us()); }
// Times before 0 become 0.
inline SimTime ToSimTime(Timestamp time) { return std::max(SimTime::Micros(time.us()), kTimeZero); }

inline double ToMilliseconds(SimDuration duration) { return static_cast<double>(duration.ns()) * 1e-6; }

inline SimDuration NotNegative(SimDuration duration) { return std::max(duration, SimDuration::Zero()); }

namespace internal {

// 1e9 * bits / divisor, for bits >= 0 and a divisor > 0; rounded down.
inline int64_t NanobitsOver(int64_t bits, int64_t divisor) {
  constexpr int64_t kNanobitsPerBit = 1'000'000'000;
  // A 64-bit division is several times faster than a 128-bit one, and suffices for every single packet.
  if (bits <= std::numeric_limits<int64_t>::max() / kNanobitsPerBit) return bits * kNanobitsPerBit / divisor;
  return static_cast<int64_t>(static_cast<__int128>(bits) * kNanobitsPerBit / divisor);
}

}  // namespace internal

// The duration of `bits` (>= 0) at a rate (> 0), and the rate of `bits` over a duration (> 0); rounded down.
inline SimDuration DurationOf(int64_t bits, int64_t rate_bps) {
  return SimDuration::Nanos(internal::NanobitsOver(bits, rate_bps));
}
inline int64_t RateBpsOf(int64_t bits, SimDuration duration) { return internal::NanobitsOver(bits, duration.ns()); }

// The transmission time of `size_bytes` at `rate_bps`, which must be positive; rounded down.
inline SimDuration TransmissionTime(int64_t size_bytes, int64_t rate_bps) {
  return DurationOf(8 * size_bytes, rate_bps);
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_SIM_TIME_H_
