// libwebrtc's own log, kept away from the standard error of programs that use it as a library.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_QUIET_LOGGING_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_QUIET_LOGGING_H_

namespace weir::adapter {

// Stops libwebrtc from logging to stderr, which Debian's build does from level INFO on. Once a process: a host that
// turns the log on again later is left alone.
void SilenceLibwebrtcLog();

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_QUIET_LOGGING_H_
