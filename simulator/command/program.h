// The command line of a simulation program: `run`, `serve`, `open-loop`, and one command that the program may add.
#ifndef WEIR_SIMULATOR_COMMAND_PROGRAM_H_
#define WEIR_SIMULATOR_COMMAND_PROGRAM_H_

#include <CLI/App.hpp>
#include <functional>
#include <string>

#include "flows/stack.h"
#include "run/run.h"

namespace weir::sim {

// A command of one program. `add` adds it to the command line, `run` executes it and returns the exit status.
struct ProgramCommand {
  std::function<CLI::App*(CLI::App& app)> add;
  std::function<int()> run;
};

struct SimulatorProgram {
  std::string name;
  std::string summary;
  // The stack of RTP flows; see MakeStack.
  MakeStack make_stack;
  // Has null members if there is no other command.
  ProgramCommand other = {};
};

// Adds the options that, with the scenario, determine a simulation.
void AddJobOptions(CLI::App& command, JobOptions& options);

// Returns the exit status.
int RunSimulatorProgram(int argc, char** argv, const SimulatorProgram& program);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_COMMAND_PROGRAM_H_
