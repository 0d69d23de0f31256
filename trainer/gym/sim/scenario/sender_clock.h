// A sender's clock, which is never quite right: what abs-send-time and RTP timestamps show.
#ifndef WEIR_TRAINER_GYM_SIM_SCENARIO_SENDER_CLOCK_H_
#define WEIR_TRAINER_GYM_SIM_SCENARIO_SENDER_CLOCK_H_

#include <cmath>
#include <cstdint>

namespace weir::sim {

struct SenderClock {
  // How much too fast it goes, in parts per million.
  double ppm = 0;
  // What it shows at time 0.
  int64_t offset_ns = 0;

  // What it shows at a time.
  int64_t Shown(int64_t time_ns) const {
    return offset_ns + time_ns + std::llround(static_cast<double>(time_ns) * ppm * 1e-6);
  }

  // A time of arrival in transport feedback, as a controller at the sender has it. The sender's own times are true ones
  // here, so that it is the receiver's clock that drifts against them, the other way.
  int64_t Beside(int64_t receive_time_us) const {
    if (ppm == 0) return receive_time_us;
    return std::llround(static_cast<double>(receive_time_us) / (1 + ppm * 1e-6));
  }
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_SCENARIO_SENDER_CLOCK_H_
