// The command line of weir-sim: `run`, `serve`, and the commands that the program adds to them.
#ifndef WEIR_TRAINER_GYM_SIM_COMMANDS_H_
#define WEIR_TRAINER_GYM_SIM_COMMANDS_H_

#include <functional>

#include "program/command_line.h"
#include "run/run.h"

namespace weir::sim {

struct Command {
  CLI::App* app;
  // Returns an exit status, or throws.
  std::function<int()> run;
};

// The options that determine a simulation besides its scenario.
void AddJobOptions(CLI::App& command, JobOptions& options);

// `add` adds one more command. Returns the exit status.
int SimulatorMain(int argc, char** argv, const std::function<Command(CLI::App& app)>& add);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_COMMANDS_H_
