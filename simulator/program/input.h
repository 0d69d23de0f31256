// Files and objectives that a user gives, and the errors about them.
#ifndef WEIR_PROGRAM_INPUT_H_
#define WEIR_PROGRAM_INPUT_H_

#include <cstddef>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "weir/objective.h"

namespace weir {

// An error in the user's input, in one line: the fault, its place and how to fix it.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A JSON object lacks a key that it must have.
class MissingKey : public InputError {
 public:
  using InputError::InputError;
};

// A component that is not installed, in one line: its name and how to get it.
class MissingComponent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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

// Throws InputError. `what` names the kind of file in messages.
std::string ReadInputFile(const std::string& path, const char* what);

// The accepted texts, for messages.
std::string ObjectiveExpected();

// A preset's name, or "T,L,P" of any sum. Nothing for any other text.
std::optional<Objective> ParseObjective(const std::string& text);

// True if weights are divided by their sum, as those of a request are, or must sum to 1, as those in a scenario file.
enum class WeightSum { kAny, kOne };

// Three numbers, [throughput, latency, loss]. Throws InputError; `path` names the value.
Objective ParseObjective(const nlohmann::json& value, const std::string& path, WeightSum sum);

}  // namespace weir

#endif  // WEIR_PROGRAM_INPUT_H_
