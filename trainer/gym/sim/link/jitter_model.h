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
  int64_t Delayed(int64_t time_ns);

 private:
  JitterSpec spec_;
  RandomStream random_;
  int64_t last_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_LINK_JITTER_MODEL_H_
