// Something that this machine or this user does not have: one line that says what, and how to get it.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_MISSING_COMPONENT_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_MISSING_COMPONENT_H_

#include <stdexcept>

namespace weir {

class MissingComponent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_MISSING_COMPONENT_H_
