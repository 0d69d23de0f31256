// Converts an RTC event log to JSON objects in chronological order.
#ifndef WEIR_LOGS_EVENT_LOG_EVENT_LOG_LINES_H_
#define WEIR_LOGS_EVENT_LOG_EVENT_LOG_LINES_H_

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace weir {

// Calls `write` with each object; README.md has the types. `log` holds the untrusted bytes of a file; a truncated log
// is read as far as it goes. Throws ProgramError if `log` is no event log, or has no events.
void WriteEventLogLines(const std::string& log, const std::function<void(const nlohmann::ordered_json&)>& write);

}  // namespace weir

#endif  // WEIR_LOGS_EVENT_LOG_EVENT_LOG_LINES_H_
