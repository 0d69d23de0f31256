// Files and objectives that a user gives, and the errors about them.
#ifndef WEIR_PROGRAMS_INPUT_H_
#define WEIR_PROGRAMS_INPUT_H_

#include <cstddef>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "weir/objective.h"
#include "weir/result.h"

namespace weir {

// Exit statuses of programs.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;
inline constexpr int kMissingComponent = 3;

// The exception of programs, in one line: the fault, its place and how to fix it.
class ProgramError : public std::runtime_error {
 public:
  explicit ProgramError(const std::string& what, int status = kWrongUse) : std::runtime_error(what), status_(status) {}

  // The exit status of a program that ends by it.
  int status() const { return status_; }

 private:
  int status_;
};

// The value of what the library returned, or its error as an exception, after `about`.
template <class T>
T OrThrow(Result<T> result, const std::string& about = "", int status = kWrongUse) {
  if (!result) throw ProgramError(about + result.error(), status);
  return std::move(result.value());
}

// The numbers that an input may be. Both bounds are inclusive unless excluded.
struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_excluded = false;
  bool max_excluded = false;
};

// Text of others, as a terminal may have it: whatever is a control character (C0, DEL, C1), or no UTF-8, becomes "?".
std::string Printable(std::string_view text);

// The most memory of a simulation, and the message where that does not suffice.
inline constexpr size_t kMaxMemoryBytes = size_t{4} << 30;
inline constexpr char kOutOfMemory[] =
    "out of memory, over 4 GiB; shorten the scenario, lower its rates, or leave the time series out";

// The most bytes of a scenario or a model: far more than any real one has.
inline constexpr size_t kMaxInputFileBytes = size_t{64} << 20;

// Throws ProgramError. `what` names the kind of file in messages.
std::string ReadInputFile(const std::string& path, const char* what);

// The accepted texts, for messages.
std::string ObjectiveExpected();

// A preset's name, or "T,L,P" of any sum. Nothing for any other text.
std::optional<Objective> ParseObjective(const std::string& text);

// Three numbers above 0, [throughput, latency, loss], of any sum. Throws ProgramError; `path` names the value.
Objective ParseObjective(const nlohmann::json& value, const std::string& path);

}  // namespace weir

#endif  // WEIR_PROGRAMS_INPUT_H_
