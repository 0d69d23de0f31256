// The maximum playout delay in the C interface.
#include "weir/playout_delay.h"

#include "c/c_api.h"

static_assert(WEIR_MIN_PLAYOUT_DELAY_US == weir::kMinPlayoutDelay.us());

int64_t weir_max_playout_delay_us(int64_t jitter_us, int64_t round_trip_time_us, int64_t frame_interval_us,
                                  int64_t previous_us) noexcept {
  using weir::TimeDelta;
  return weir::MaxPlayoutDelay({.jitter = TimeDelta::Micros(jitter_us),
                                .round_trip_time = TimeDelta::Micros(round_trip_time_us),
                                .frame_interval = TimeDelta::Micros(frame_interval_us)},
                               TimeDelta::Micros(previous_us))
      .us();
}
