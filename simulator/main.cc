// weir-sim: the simulator's commands `run` and `serve`, and `link`, its real-time path for calls. `weir-sim --help`
// describes them.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "endpoints/controllers.h"
#include "link_process.h"
#include "program/command_line.h"
#include "program/input.h"
#include "program/json.h"
#include "registry.h"
#include "run/run.h"
#include "serve/serve.h"
#include "weir/objective.h"

namespace weir::sim {
namespace {

// The controllers that this program runs: a line each, the name first.
void ListControllers() {
  constexpr auto kWidth =
      static_cast<int>(std::ranges::max(kSimulatedControllers, {}, &std::string_view::size).size() + 2);
  for (const RegisteredController& one : kControllers) {
    if (!one.simulated) continue;
    std::cout << std::left << std::setw(kWidth) << one.name << one.summary
              << (IsAvailable(one) ? "" : " (not available: run `make webrtc`)") << '\n';
  }
}

// The options that determine a simulation besides its scenario.
void AddJobOptions(CLI::App& command, JobOptions& options) {
  std::string controllers = ListNames(kSimulatedControllers);
  // In two lines.
  controllers.replace(controllers.find(", weir-send"), 2, ",\n");
  AddText(command, "--controller", "NAME",
          "what flows \"under_test\" run (default: weir with a --model, else rule):\n" + controllers +
              ";\nwith field trials: \"gcc:TRIAL/GROUP/\";\n"
              "or a pool: \"pilot=weir copilots=nada,rule fusion=min policy=by_trust\"",
          options.controller);
  command.add_option("--model", options.model_path, "the policy of the controller weir (ONNX)")->type_name("FILE");
  AddObjective(command, [&options](const Objective& objective) { options.objective = objective; });
  AddInteger(command, "--seed", "a whole number, at least 0 (default 1)", options.seed, uint64_t{0});
}

CLI::App* AddRun(CLI::App& app, RunOptions& options) {
  CLI::App* const command =
      app.add_subcommand("run",
                         "run each scenario, print one result record a line; `run -` reads jobs from standard input,\n"
                         "one JSON object a line, and answers each");
  command->add_option("SCENARIO.json", options.scenario_paths)
      ->type_name("")
      ->required()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddJobOptions(*command, options.job);
  command->add_flag_callback("--no-series", [&options] { options.series = false; }, "leave the time series out");
  return command;
}

void Run(const CLI::App& command, const RunOptions& options) {
  if (options.scenario_paths == std::vector<std::string>{"-"}) {
    const auto given = command.get_options([](const CLI::Option* option) { return option->count() > 0; });
    if (given.size() > 1) throw ProgramError("run - takes no options: each job has its own");
    RunJobs(std::cin, std::cout);
  } else {
    RunFiles(options, std::cout);
  }
}

constexpr char kLinkHelp[] =
    R"(the scenario's path in real time, between two devices that the caller has opened: LEFT, of
the sender, and RIGHT, of the receiver, are descriptors of TUN devices, or of packet
sockets on one end of a veth pair whose ends have one address. The scenario's first RTP
flow stands for the real packets; its other flows are simulated. Commands on standard
input, one JSON object a line: {"type":"start"}, {"type":"down","duration_s":5},
{"type":"stop"}. Events on standard output: ready, started, down, error, end. The end of
the input, SIGINT and SIGTERM stop it too)";

CLI::App* AddLink(CLI::App& app, LinkOptions& options) {
  CLI::App* const command = app.add_subcommand("link", kLinkHelp);
  command->add_option("SCENARIO.json", options.scenario_path)->type_name("")->required();
  AddJobOptions(*command, options.job);
  AddInteger(*command, "--left", "descriptor of the sender's device", options.left_fd, 0)->required();
  AddInteger(*command, "--right", "descriptor of the receiver's device", options.right_fd, 0)->required();
  AddText(*command, "--log", "FILE", "capacity, queue, packets and delays, one JSON object a line", options.log_path)
      ->required();
  AddInteger(*command, "--log-interval-ms", "how often, 10 to 10000 (default 100)", options.log_interval_ms,
             int64_t{10}, int64_t{10'000});
  return command;
}

// So that no scenario takes the machine's: an allocation beyond it fails the run, with a message.
void LimitMemory() {
#ifndef WEIR_IS_SANITIZED
  rlimit limit{};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, kMaxMemoryBytes);
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  CLI::App app("Simulates calls over network paths, with every controller.", "weir-sim");
  app.option_defaults()->take_last();
  app.set_help_flag();
  app.set_help_all_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", [] { return JsonText(Versions()); }, "versions of the simulator's parts, as JSON");
  app.footer("exit status: 0 done, 1 failed, 2 wrong use or input, 3 something is missing");
  bool wants_list = false;
  app.add_flag("--list", wants_list, "the controllers: names, and what each is, one a line");
  app.require_subcommand(0, 1);
  RunOptions run_options;
  LinkOptions link_options;
  const CLI::App* const run = AddRun(app, run_options);
  const CLI::App* const serve =
      app.add_subcommand("serve", "an environment: binary frames on standard input and output");
  const CLI::App* const link = AddLink(app, link_options);
  return RunProgram(app, argc, argv, [&] {
    if (wants_list) {
      ListControllers();
      return kDone;
    }
    if (*link) return RunLink(link_options, STDIN_FILENO, STDOUT_FILENO) ? kDone : kFailed;
    LimitMemory();
    if (*run) {
      Run(*run, run_options);
      return kDone;
    }
    if (*serve) return Serve(STDIN_FILENO, STDOUT_FILENO) ? kDone : kFailed;
    throw ProgramError("give run, serve or link; see weir-sim --help");
  });
}

}  // namespace
}  // namespace weir::sim

int main(int argc, char** argv) { return weir::sim::Main(argc, argv); }
