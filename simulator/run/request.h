// Reads requests to a simulation program, and reports how one fails.
#ifndef WEIR_SIMULATOR_RUN_REQUEST_H_
#define WEIR_SIMULATOR_RUN_REQUEST_H_

#include <cstddef>
#include <exception>
#include <istream>
#include <new>
#include <optional>
#include <string>

#include "programs/input.h"

namespace weir::sim {

struct RequestFailure {
  std::string message;
  // True if the request was valid, but its custom controller failed in the run.
  bool in_run = false;
};

// Calls `answer`, and returns the failure with which it ended, if any.
template <class Answer>
std::optional<RequestFailure> FailureOf(const Answer& answer) {
  try {
    answer();
    return std::nullopt;
  } catch (const ProgramError& error) {
    return RequestFailure{error.what(), error.status() == kFailed};
  } catch (const std::bad_alloc&) {
    return RequestFailure{kOutOfMemory};
  } catch (const std::exception& error) {
    return RequestFailure{error.what()};
  }
}

// Reads the next line, of which it keeps `max_size` + 1 bytes at most. False at the end.
inline bool ReadLine(std::istream& in, std::string& line, size_t max_size) {
  constexpr int kEnd = std::char_traits<char>::eof();
  line.clear();
  std::streambuf& text = *in.rdbuf();
  int c = text.sbumpc();
  if (c == kEnd) return false;
  for (; c != '\n' && c != kEnd; c = text.sbumpc()) {
    if (line.size() <= max_size) line += static_cast<char>(c);
  }
  return true;
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_RUN_REQUEST_H_
