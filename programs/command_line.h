// The options and the end of a program: CLI11, with messages that say what a value must be.
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

// An option whose value `take` takes. Where it gives false, the message is "NAME VALUE: must be EXPECTED". Given twice,
// the last counts, as with every option made here.
CLI::Option* AddOption(CLI::App& app, const std::string& name, const std::string& type, const std::string& description,
                       const std::string& expected, std::function<bool(const std::string& value)> take);

// Not empty: the path of a file, say.
CLI::Option* AddText(CLI::App& app, const std::string& name, const std::string& type, const std::string& description,
                     std::string& to);

// A whole number in decimal, `min` to `max`.
template <class Integer>
CLI::Option* AddInteger(CLI::App& app, const std::string& name, const std::string& description, Integer& to,
                        Integer min, Integer max = std::numeric_limits<Integer>::max()) {
  const bool bounded = max != std::numeric_limits<Integer>::max();
  return AddOption(app, name, "N", description,
                   "a whole number, " + (bounded ? "" : std::string("at least ")) + std::to_string(min) +
                       (bounded ? " to " + std::to_string(max) : ""),
                   [&to, min, max](const std::string& value) {
                     // CLI11's own conversion would take 010 for 8, and -1 for 2^64 - 1.
                     const char* const end = value.data() + value.size();
                     const auto [read_end, error] = std::from_chars(value.data(), end, to);
                     return error == std::errc() && read_end == end && to >= min && to <= max;
                   });
}

// So that no input takes the machine's: an allocation beyond kMaxMemoryBytes fails, with RunProgram's message.
void LimitMemory();

// --objective T,L,P.
CLI::Option* AddObjective(CLI::App& app, std::function<void(const Objective&)> take);

// Reads the command line, runs the program, and returns its exit status. Exceptions are printed
// on standard error, after the program's name.
int RunProgram(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& run);

}  // namespace weir

#endif  // WEIR_PROGRAMS_COMMAND_LINE_H_
