// weir-sim: the simulator process. `weir-sim --help` says what it does.
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "core/input_error.h"
#include "core/missing_component.h"
#include "realtime/link_process.h"
#include "run/arguments.h"
#include "run/registry_lists.h"
#include "run/run.h"
#include "run/versions.h"
#include "serve/serve.h"
#include "weir/registry/controllers.h"
#include "weir/registry/names.h"

namespace weir::sim {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;
constexpr int kMissingComponent = 3;

std::string Usage() {
  return R"(usage: weir-sim run [OPTION...] SCENARIO.json...   run each scenario, print one result record a line
       weir-sim run -                              read jobs from standard input, one JSON object a line, answer each
       weir-sim serve                              an environment: binary frames on standard input and output
       weir-sim link [OPTION...] SCENARIO.json     the scenario's path in real time, between two network namespaces
       weir-sim --list controllers|flows|presets   their names, and what each is, one a line
       weir-sim --version                          versions of the simulator's parts, as JSON

options of run and link:
  --controller NAME    what flows "under_test" run (default: weir with a --model, else rule):
                       )" +
         ListNames(kSimulatedControllers) + R"(
  --model FILE         the policy of the controller weir (ONNX)
  --objective T,L,P    weights of throughput, latency and loss, or )" +
         ListNames(kObjectivePresets) + R"(
  --seed N             a whole number, at least 0 (default 1)
  --no-series          run only: leave the time series out

options of link, which makes TUN devices weir0: 10.211.0.1 in LEFT (the sender), 10.211.0.2 in RIGHT (the receiver):
  --left LEFT          network namespaces, as `ip netns` names them
  --right RIGHT
  --log FILE           capacity, queue, packets and delays, one JSON object a line
  --log-interval-ms N  how often, 10 to 10000 (default 100)
The scenario's first RTP flow stands for the real packets; its other flows are simulated. Commands on standard input,
one JSON object a line: {"type":"start"}, {"type":"down","duration_s":5}, {"type":"stop"}. Events on standard output:
ready, started, down, error, end. The end of the input, SIGINT and SIGTERM stop it too.

exit status: 0 done, 1 failed, 2 wrong use or input, 3 something is missing (root, TUN devices)
)";
}

std::optional<Objective> ObjectiveOf(const Arguments& arguments) {
  if (!arguments.Has("--objective")) return std::nullopt;
  return ParseObjective(arguments.Get("--objective"));
}

std::string ControllerOf(const Arguments& arguments) {
  return arguments.Get("--controller", arguments.Get("--model").empty() ? "rule" : "weir");
}

RunOptions ParseRunOptions(const Arguments& arguments) {
  RunOptions options;
  options.scenario_paths = arguments.positional();
  if (options.scenario_paths.empty())
    throw InputError("run needs at least one scenario file, or -; see weir-sim --help");
  options.controller = ControllerOf(arguments);
  options.model_path = arguments.Get("--model");
  options.objective = ObjectiveOf(arguments);
  options.seed = arguments.GetInteger("--seed", 0, UINT64_MAX, options.seed);
  options.series = !arguments.Has("--no-series");
  return options;
}

LinkOptions ParseLinkOptions(const Arguments& arguments) {
  if (arguments.positional().size() != 1) throw InputError("link needs one scenario file; see weir-sim --help");
  LinkOptions options;
  options.scenario_path = arguments.positional()[0];
  options.controller = ControllerOf(arguments);
  options.model_path = arguments.Get("--model");
  options.objective = ObjectiveOf(arguments);
  options.seed = arguments.GetInteger("--seed", 0, UINT64_MAX, options.seed);
  options.left = arguments.Require("--left");
  options.right = arguments.Require("--right");
  options.log_path = arguments.Require("--log");
  options.log_interval_ms = static_cast<int64_t>(arguments.GetInteger("--log-interval-ms", 10, 10'000, 100));
  return options;
}

int Main(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (command == "--help" || command == "-h") {
    std::cout << Usage();
    return kDone;
  }
  if (command == "--version") {
    std::cout << Versions().dump() << '\n';
    return kDone;
  }
  if (command == "--list") {
    if (rest.size() != 1) throw InputError("--list needs one of controllers, flows, presets");
    std::cout << RegistryList(rest[0]);
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
      RunFiles(ParseRunOptions({rest, {"--no-series"}, {"--controller", "--model", "--objective", "--seed"}}),
               std::cout);
    }
    return std::cout ? kDone : kFailed;
  }
  if (command == "link") {
    const LinkOptions options = ParseLinkOptions(
        {rest,
         {},
         {"--controller", "--model", "--objective", "--seed", "--left", "--right", "--log", "--log-interval-ms"}});
    return RunLink(options, STDIN_FILENO, STDOUT_FILENO) ? kDone : kFailed;
  }
  std::cerr << Usage();
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
  } catch (const weir::sim::MissingComponent& error) {
    std::cerr << "weir-sim: " << error.what() << '\n';
    return weir::sim::kMissingComponent;
  } catch (const std::exception& error) {
    std::cerr << "weir-sim: " << error.what() << '\n';
    return weir::sim::kFailed;
  }
}
