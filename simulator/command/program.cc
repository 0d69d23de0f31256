#include "command/program.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "endpoints/controller_table.h"
#include "field_trials.h"
#include "open_loop/open_loop.h"
#include "programs/command_line.h"
#include "programs/input.h"
#include "programs/json.h"
#include "serve/serve.h"
#include "weir/names.h"

namespace weir::sim {
namespace {

// Prints the controllers that this program runs, one per line, name first.
void ListControllers() {
  const auto length = [](const SimulatedController& row) { return row.name.size(); };
  const auto width = static_cast<int>(length(std::ranges::max(SimulatedControllers(), {}, length)) + 2);
  for (const SimulatedController& row : SimulatedControllers()) {
    std::cout << std::left << std::setw(width) << row.name << row.summary
              << (IsAvailable(row) ? "" : " (not available: run `make webrtc`)") << '\n';
  }
}

// The table of controllers. "field_trials" is null for a controller that takes none, and "libwebrtc_milestone" for one
// that every libwebrtc has.
nlohmann::ordered_json ControllerTable() {
  using Json = nlohmann::ordered_json;
  Json table = Json::array();
  for (const SimulatedController& row : SimulatedControllers()) {
    const FieldTrialController* const trials = FindRow(kFieldTrialControllers, row.name);
    table.push_back({{"name", row.name},
                     {"summary", row.summary},
                     {"knows_path", row.knows_path},
                     {"field_trials", trials ? Json(trials->trials) : Json()},
                     {"libwebrtc_milestone", row.libwebrtc_milestone > 0 ? Json(row.libwebrtc_milestone) : Json()},
                     {"available", IsAvailable(row)}});
  }
  return table;
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

void Run(const CLI::App& command, const RunOptions& options, const MakeStack& make_stack) {
  if (options.scenario_paths == std::vector<std::string>{"-"}) {
    const auto given = command.get_options([](const CLI::Option* option) { return option->count() > 0; });
    if (given.size() > 1) throw ProgramError("run - takes no options: each job has its own");
    RunJobs(std::cin, std::cout, make_stack);
  } else {
    RunFiles(options, std::cout, make_stack);
  }
}

CLI::App* AddOpenLoop(CLI::App& app, OpenLoopOptions& options) {
  CLI::App* const command =
      app.add_subcommand("open-loop",
                         "the targets of a controller on recorded packets and feedback: events on standard input, as\n"
                         "`weir-event-log` writes them, and a target a line on standard output");
  AddJobOptions(*command, options.job);
  const auto add_rate = [command](const char* name, const char* what, int64_t& bps) {
    AddInteger(*command, name, what, bps, int64_t{1}, int64_t{1'000'000'000'000})->type_name("BPS");
  };
  add_rate("--min-bps", "lower bound of targets (default 30000)", options.min_bps);
  add_rate("--start-bps", "the first target (default 300000)", options.start_bps);
  add_rate("--max-bps", "upper bound of targets (default 50000000)", options.max_bps);
  return command;
}

}  // namespace

void AddJobOptions(CLI::App& command, JobOptions& options) {
  std::string controllers = ListNames(SimulatedControllers());
  // Breaks the list into two lines.
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

int RunSimulatorProgram(int argc, char** argv, const SimulatorProgram& program) {
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  CLI::App app(program.summary, program.name);
  app.option_defaults()->take_last();
  app.set_help_flag();
  app.set_help_all_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", [] { return JsonText(Versions()); }, "versions of the simulator's parts, as JSON");
  app.footer("exit status: 0 done, 1 failed, 2 wrong use or input, 3 something is missing");
  bool wants_list = false;
  app.add_flag("--list", wants_list, "the controllers: names, and what each is, one a line");
  app.require_subcommand(0, 1);
  RunOptions run_options;
  const CLI::App* const run = AddRun(app, run_options);
  const CLI::App* const serve =
      app.add_subcommand("serve", "an environment: binary frames on standard input and output");
  const CLI::App* const controllers =
      app.add_subcommand("controllers", "print the table of controllers as JSON, for programs");
  OpenLoopOptions open_loop_options;
  const CLI::App* const open_loop = AddOpenLoop(app, open_loop_options);
  const CLI::App* const other = program.other.add ? program.other.add(app) : nullptr;
  return RunProgram(app, argc, argv, [&] {
    if (wants_list) {
      ListControllers();
      return kDone;
    }
    if (*controllers) {
      std::cout << JsonText(ControllerTable()) << '\n';
      return int{kDone};
    }
    if (other && *other) return program.other.run();
    LimitMemory();
    if (*run) {
      Run(*run, run_options, program.make_stack);
      return int{kDone};
    }
    if (*open_loop) {
      RunOpenLoop(open_loop_options, std::cin, std::cout);
      return int{kDone};
    }
    if (*serve) return Serve(STDIN_FILENO, STDOUT_FILENO, program.make_stack) ? int{kDone} : int{kFailed};
    throw ProgramError(std::string("give ") +
                       (other ? "run, serve, open-loop or " + other->get_name() : "run, serve or open-loop") +
                       "; see " + program.name + " --help");
  });
}

}  // namespace weir::sim
