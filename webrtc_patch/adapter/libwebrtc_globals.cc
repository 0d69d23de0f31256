#include "libwebrtc_globals.h"

#include <cstdint>

#include "libwebrtc_version.h"
#include "rtc_base/logging.h"
#include "rtc_base/system_time.h"
#include "rtc_base/time_utils.h"

namespace weir::adapter {
namespace {

constexpr int64_t kNotSimulated = -1;
thread_local int64_t simulated_time_ns = kNotSimulated;

class Clock final : public rtc::ClockInterface {
 public:
  Clock() : previous_(rtc::SetClockForTesting(this)) {}

  int64_t TimeNanos() const override {
    if (simulated_time_ns != kNotSimulated) return simulated_time_ns;
    return previous_ != nullptr ? previous_->TimeNanos() : rtc::SystemTimeNanos();
  }

 private:
  const rtc::ClockInterface* const previous_;
};

}  // namespace

ScopedSimulatedTime::ScopedSimulatedTime(webrtc::Timestamp now) {
  // Installed once: libwebrtc's pointer to its clock must not change while other threads read it.
  static const Clock* const clock = new Clock;
  (void)clock;
  simulated_time_ns = now.us() * 1000;
}

ScopedSimulatedTime::~ScopedSimulatedTime() { simulated_time_ns = kNotSimulated; }

void SilenceLibwebrtcLog() {
#ifndef WEBRTC_CHROMIUM_BUILD  // In Chromium, libwebrtc uses Chromium's log.
  static const bool silenced = [] {
    rtc::LogMessage::LogToDebug(rtc::LS_NONE);
    rtc::LogMessage::SetLogToStderr(false);
    return true;
  }();
  (void)silenced;
#endif
}

}  // namespace weir::adapter
