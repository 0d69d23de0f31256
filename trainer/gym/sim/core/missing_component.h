// Something that this machine or this user does not have: one line that says what, and how to get it.
#ifndef WEIR_TRAINER_GYM_SIM_CORE_MISSING_COMPONENT_H_
#define WEIR_TRAINER_GYM_SIM_CORE_MISSING_COMPONENT_H_

#include <stdexcept>

namespace weir::sim {

class MissingComponent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_MISSING_COMPONENT_H_
