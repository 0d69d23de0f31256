// Loss by chance on the link itself: neither what a full queue drops nor what a policer does.
#ifndef WEIR_TRAINER_GYM_SIM_LINK_LOSS_MODEL_H_
#define WEIR_TRAINER_GYM_SIM_LINK_LOSS_MODEL_H_

#include "core/random.h"
#include "scenario/scenario.h"

namespace weir::sim {

class LossModel {
 public:
  LossModel(const LossSpec& spec, RandomStream random);

  // The fate of a packet that is sent at this time of the link's changes.
  bool Loses(int64_t time_ns);

 private:
  LossSpec spec_;
  RandomStream random_;
  // Gilbert-Elliott starts in the good state.
  bool bad_ = false;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_LINK_LOSS_MODEL_H_
