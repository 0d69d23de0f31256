// weir-sim: the simulator process. `weir-sim --help` says what it does.
#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "input_error.h"
#include "run.h"
#include "serve.h"
#include "versions.h"

namespace weir::sim {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

constexpr char kUsage[] =
    R"(usage: weir-sim run [OPTION...] SCENARIO.json...   run each scenario, print one result record a line
       weir-sim run -                              read jobs from standard input, one JSON object a line, answer each
       weir-sim serve                              an environment: binary frames on standard input and output
       weir-sim --version                          versions of the simulator's parts, as JSON

options of run:
  --controller NAME    what flows "under_test" run: weir, gcc, gcc-remb, pcc, nada, rule, fixed, oracle (default: weir
                       with a --model, else rule)
  --model FILE         the policy of the controller weir (ONNX)
  --objective T,L,P    weights of throughput, latency and loss, or balanced, throughput, latency
  --seed N             a whole number, at least 0 (default 1)
  --no-series          leave the time series out

exit status: 0 done, 1 failed, 2 wrong use or input
)";

uint64_t ParseSeed(const std::string& text) {
  size_t used = 0;
  try {
    if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      const uint64_t seed = std::stoull(text, &used);
      if (used == text.size()) return seed;
    }
  } catch (const std::out_of_range&) {
  }
  throw InputError("--seed " + text + ": must be a whole number, at least 0");
}

RunOptions ParseRunOptions(const std::vector<std::string>& arguments) {
  RunOptions options;
  bool only_paths = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i];
    if (only_paths || name.empty() || name[0] != '-') {
      options.scenario_paths.push_back(name);
      continue;
    }
    if (name == "--") {
      only_paths = true;
      continue;
    }
    if (name == "--no-series") {
      options.series = false;
      continue;
    }
    if (name != "--controller" && name != "--model" && name != "--objective" && name != "--seed") {
      throw InputError("unknown option " + name + "; see weir-sim --help");
    }
    if (++i == arguments.size()) throw InputError(name + " needs a value");
    const std::string& value = arguments[i];
    if (name == "--controller") options.controller = value;
    if (name == "--model") options.model_path = value;
    if (name == "--objective") options.objective = ParseObjective(value);
    if (name == "--seed") options.seed = ParseSeed(value);
  }
  if (options.scenario_paths.empty())
    throw InputError("run needs at least one scenario file, or -; see weir-sim --help");
  if (options.controller.empty()) options.controller = options.model_path.empty() ? "rule" : "weir";
  return options;
}

int Main(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (command == "--help" || command == "-h") {
    std::cout << kUsage;
    return kDone;
  }
  if (command == "--version") {
    std::cout << Versions().dump() << '\n';
    return kDone;
  }
  if (command == "serve") {
    if (!rest.empty()) throw InputError("serve takes no arguments");
    return Serve(STDIN_FILENO, STDOUT_FILENO) ? kDone : kFailed;
  }
  if (command == "run") {
    if (rest.size() == 1 && rest[0] == "-") {
      RunJobs(std::cin, std::cout);
    } else {
      RunFiles(ParseRunOptions(rest), std::cout);
    }
    return std::cout ? kDone : kFailed;
  }
  std::cerr << kUsage;
  return kWrongUse;
}

}  // namespace
}  // namespace weir::sim

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  try {
    return weir::sim::Main({argv + 1, argv + argc});
  } catch (const weir::sim::InputError& error) {
    std::cerr << "weir-sim: " << error.what() << '\n';
    return weir::sim::kWrongUse;
  } catch (const std::exception& error) {
    std::cerr << "weir-sim: " << error.what() << '\n';
    return weir::sim::kFailed;
  }
}
