// Command lines of programs: CLI11 with messages that state the accepted values.
#ifndef WEIR_PROGRAMS_COMMAND_LINE_H_
#define WEIR_PROGRAMS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <charconv>
#include <functional>
#include <limits>
#include <string>

#include "programs/input.h"
#include "weir/objective.h"

namespace weir {

// Adds an option that passes its value to `take`. If `take` returns false, the message is "NAME VALUE: must be
// EXPECTED". The last value counts if an option is repeated; this holds for every option added here.
CLI::Option* AddOption(CLI::App& app, const std::string& name, const std::string& type, const std::string& description,
                       const std::string& expected, std::function<bool(const std::string& value)> take);

// Adds an option whose value must not be empty, for example a file path.
CLI::Option* AddText(CLI::App& app, const std::string& name, const std::string& type, const std::string& description,
                     std::string& to);

// Adds an option whose value is a decimal integer from `min` to `max`.
template <class Integer>
CLI::Option* AddInteger(CLI::App& app, const std::string& name, const std::string& description, Integer& to,
                        Integer min, Integer max = std::numeric_limits<Integer>::max()) {
  const bool bounded = max != std::numeric_limits<Integer>::max();
  return AddOption(app, name, "N", description,
                   "a whole number, " + (bounded ? "" : std::string("at least ")) + std::to_string(min) +
                       (bounded ? " to " + std::to_string(max) : ""),
                   [&to, min, max](const std::string& value) {
                     // CLI11's own conversion reads 010 as 8 and -1 as 2^64 - 1.
                     const char* const end = value.data() + value.size();
                     const auto [read_end, error] = std::from_chars(value.data(), end, to);
                     return error == std::errc() && read_end == end && to >= min && to <= max;
                   });
}

// Protects the machine from any input: allocations beyond kMaxMemoryBytes fail, and RunProgram reports it.
void LimitMemory();

// Adds --objective T,L,P.
CLI::Option* AddObjective(CLI::App& app, std::function<void(const Objective&)> take);

// Reads the command line, runs the program, and returns its exit status. Exceptions are printed
// on standard error, after the program's name.
int RunProgram(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& run);

}  // namespace weir

#endif  // WEIR_PROGRAMS_COMMAND_LINE_H_
