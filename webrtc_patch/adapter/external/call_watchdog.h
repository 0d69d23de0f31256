// Ends this process when a call into code that is not ours does not come back.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_CALL_WATCHDOG_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_CALL_WATCHDOG_H_

#include <string>

#include "weir/units.h"

namespace weir::external {

// While this object lives, the call is being made. After `limit` (0.1 s more or less) the process says "ABOUT: it has
// not come back within LIMIT" on standard error and exits with status 1. One at a time; `about` outlives it.
class WatchedCall {
 public:
  WatchedCall(const std::string& about, TimeDelta limit);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;
};

}  // namespace weir::external

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_CALL_WATCHDOG_H_
