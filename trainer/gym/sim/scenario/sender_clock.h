// A sender's clock, which is never quite right: what abs-send-time and RTP timestamps show.
#ifndef WEIR_TRAINER_GYM_SIM_SCENARIO_SENDER_CLOCK_H_
#define WEIR_TRAINER_GYM_SIM_SCENARIO_SENDER_CLOCK_H_

#include <cmath>
#include <cstdint>

#include "core/piecewise_constant.h"

namespace weir::sim {

struct SenderClock {
  // How much too fast it goes, in parts per million.
  double ppm = 0;
  // What it shows at time 0.
  int64_t offset_ns = 0;
  // By how much it has been set so far.
  PiecewiseConstant<int64_t> set_ns = 0;

  // What it shows at a time; may be below 0.
  int64_t Shown(int64_t time_ns) const {
    const int64_t drift_ns = ppm == 0 ? 0 : std::llround(static_cast<double>(time_ns) * ppm * 1e-6);
    return offset_ns + set_ns.At(time_ns) + time_ns + drift_ns;
  }

  // A time of arrival in transport feedback, as a controller at the sender has it. The sender's own times are true ones
  // here, so that it is the receiver's clock that drifts against them, or is set, the other way.
  int64_t Beside(int64_t receive_time_us) const {
    const int64_t set_us = set_ns.At(receive_time_us * 1000) / 1000;
    if (ppm == 0) return receive_time_us - set_us;
    return std::llround(static_cast<double>(receive_time_us - set_us) / (1 + ppm * 1e-6));
  }
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_SCENARIO_SENDER_CLOCK_H_
