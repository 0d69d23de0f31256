// Files and objectives from the user, and the errors about them.
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

// The exception that programs throw. Its message is one line: the fault, its place and how to fix it.
class ProgramError : public std::runtime_error {
 public:
  explicit ProgramError(const std::string& what, int status = kWrongUse) : std::runtime_error(what), status_(status) {}

  // The exit status of a program that ends with this exception.
  int status() const { return status_; }

 private:
  int status_;
};

// Returns the value of `result`, or throws its error, prefixed with `about`, as a ProgramError.
template <class T>
T OrThrow(Result<T> result, const std::string& about = "", int status = kWrongUse) {
  if (!result) throw ProgramError(about + result.error(), status);
  return std::move(result.value());
}

// Range of an input number. Both bounds are inclusive unless excluded.
struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool min_excluded = false;
  bool max_excluded = false;
};

// Makes untrusted text safe for a terminal: control characters (C0, DEL, C1) and invalid UTF-8 become "?".
std::string Printable(std::string_view text);

// Memory limit of a simulation, and the message when it is exceeded.
inline constexpr size_t kMaxMemoryBytes = size_t{4} << 30;
inline constexpr char kOutOfMemory[] =
    "out of memory, over 4 GiB; shorten the scenario, lower its rates, or leave the time series out";

// Size limit of a scenario or model file, far above the size of real ones.
inline constexpr size_t kMaxInputFileBytes = size_t{64} << 20;

// Throws ProgramError. `what` names the kind of file in messages.
std::string ReadInputFile(const std::string& path, const char* what);

// Describes the texts that ParseObjective accepts, for messages.
std::string ObjectiveExpected();

// Parses a preset's name, or "T,L,P" of any sum. Returns nullopt for any other text.
std::optional<Objective> ParseObjective(const std::string& text);

// Parses three numbers above 0, [throughput, latency, loss], of any sum. Throws ProgramError; `path` names the value.
Objective ParseObjective(const nlohmann::json& value, const std::string& path);

}  // namespace weir

#endif  // WEIR_PROGRAMS_INPUT_H_
