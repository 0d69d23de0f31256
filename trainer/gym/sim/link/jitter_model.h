// Delay variation after the bottleneck.
#ifndef WEIR_TRAINER_GYM_SIM_LINK_JITTER_MODEL_H_
#define WEIR_TRAINER_GYM_SIM_LINK_JITTER_MODEL_H_

#include <cstdint>

#include "core/random.h"
#include "scenario/scenario.h"

namespace weir::sim {

class JitterModel {
 public:
  JitterModel(const JitterSpec& spec, RandomStream random);

  // When a packet leaves the jittered part of the path that it would leave at `time_ns` without jitter. Calls come in
  // the order of time. Unless the model reorders, the answers never go back.
  int64_t Delayed(int64_t time_ns) { return spec_.kind == JitterSpec::Kind::kNone ? time_ns : Jittered(time_ns); }

 private:
  int64_t Jittered(int64_t time_ns);
  int64_t Drawn(int64_t time_ns);
  int64_t UniformNs(int64_t time_ns);
  int64_t EndOfSlot(int64_t time_ns) const;
  int64_t EndOfSpike(int64_t time_ns);

  JitterSpec spec_;
  RandomStream random_;
  int64_t last_ns_ = 0;
  // Slotted: an end of a slot, in [0, interval).
  int64_t phase_ns_ = 0;
  // Uniform with an interval: the delay that holds, and until when.
  int64_t held_ns_ = 0;
  int64_t held_until_ns_ = 0;
  // Spikes: the last that has begun, or the one to come.
  int64_t spike_start_ns_ = 0;
  int64_t spike_end_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_LINK_JITTER_MODEL_H_
