// An RTC event log as JSON objects, in the order of time.
#ifndef WEIR_WEBRTC_PATCH_EVENT_LOG_EVENT_LOG_LINES_H_
#define WEIR_WEBRTC_PATCH_EVENT_LOG_EVENT_LOG_LINES_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace weir {

// Calls `write` with each object; README.md has the types. `log`: the bytes of a file, untrusted; one that is cut off
// is read as far as it goes. Throws ProgramError where it is no event log, or has no events.
void WriteEventLogLines(const std::string& log, const std::function<void(const nlohmann::ordered_json&)>& write);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_EVENT_LOG_EVENT_LOG_LINES_H_
