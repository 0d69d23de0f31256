// What is wrong with something the user gave: one line that says what, where and how to mend it.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_INPUT_ERROR_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_INPUT_ERROR_H_

#include <stdexcept>

namespace weir {

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_INPUT_ERROR_H_
