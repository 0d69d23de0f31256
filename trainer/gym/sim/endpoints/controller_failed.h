// A controller of the user's own failed in the middle of a run: one line that says which, and how.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_CONTROLLER_FAILED_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_CONTROLLER_FAILED_H_

#include <stdexcept>

namespace weir::sim {

class ControllerFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_CONTROLLER_FAILED_H_
