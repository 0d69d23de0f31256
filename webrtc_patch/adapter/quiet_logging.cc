#include "quiet_logging.h"

#include "rtc_base/logging.h"

namespace weir::adapter {

void SilenceLibwebrtcLog() {
  static const bool silenced = [] {
    rtc::LogMessage::LogToDebug(rtc::LS_NONE);
    return true;
  }();
  (void)silenced;
}

}  // namespace weir::adapter
