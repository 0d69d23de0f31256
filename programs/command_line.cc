#include "programs/command_line.h"

#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <utility>
#include <vector>

#include "programs/input.h"
#include "weir/names.h"
#include "weir/objective.h"

namespace weir {

CLI::Option* AddOption(CLI::App& app, const std::string& name, const std::string& type, const std::string& description,
                       const std::string& expected, std::function<bool(const std::string&)> take) {
  const auto check = [name, expected, take = std::move(take)](const CLI::results_t& values) {
    if (take(values.back())) return true;
    throw CLI::ValidationError(name + " " + values.back(), "must be " + expected);
  };
  return app.add_option(name, check, description)->type_name(type)->take_last();
}

CLI::Option* AddText(CLI::App& app, const std::string& name, const std::string& type, const std::string& description,
                     std::string& to) {
  return AddOption(app, name, type, description, "given", [&to](const auto& value) { return to = value, !to.empty(); });
}

void LimitMemory() {
#ifndef WEIR_IS_SANITIZED
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, kMaxMemoryBytes);
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

CLI::Option* AddObjective(CLI::App& app, std::function<void(const Objective&)> take) {
  return AddOption(app, "--objective", "T,L,P",
                   "weights of throughput, latency and loss, or " + ListNames(kObjectivePresets), ObjectiveExpected(),
                   [take = std::move(take)](const std::string& value) {
                     const auto objective = ParseObjective(value);
                     if (objective) take(*objective);
                     return objective.has_value();
                   });
}

int RunProgram(CLI::App& app, int argc, const char* const* argv, const std::function<int()>& run) {
  const auto say = [&app](int status, const std::string& what) {
    std::cerr << app.get_name() << ": " << Printable(what) << '\n';
    return status;
  };
  const auto written = [&say](int status) {
    return std::cout.flush() ? status : say(kFailed, "cannot write to standard output");
  };
  try {
    app.parse(argc, argv);
    return written(run());
  } catch (const CLI::Success& end) {  // --help, --version
    return written(app.exit(end));
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string what = error.what();
    return say(kWrongUse, what.substr(0, what.find(':')) + " needs a value");
  } catch (const CLI::ParseError& error) {
    // Unknown arguments come before missing ones, which they may cause.
    std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
    std::erase(unknown, "--");
    const auto not_understood = [&unknown] {
      return (unknown[0].starts_with('-') ? "there is no option " : "not expected: ") + unknown[0];
    };
    return say(kWrongUse, (unknown.empty() ? error.what() : not_understood()) + "; see " + app.get_name() + " --help");
  } catch (const ProgramError& error) {
    return say(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return say(kFailed, kOutOfMemory);
  } catch (const std::exception& error) {
    return say(kFailed, error.what());
  }
}

}  // namespace weir
