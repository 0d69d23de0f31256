// What is wrong with something the user gave: one line that says what, where and how to mend it.
#ifndef WEIR_TRAINER_GYM_SIM_CORE_INPUT_ERROR_H_
#define WEIR_TRAINER_GYM_SIM_CORE_INPUT_ERROR_H_

#include <stdexcept>

namespace weir::sim {

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_CORE_INPUT_ERROR_H_
