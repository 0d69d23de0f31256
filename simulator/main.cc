// weir-sim: the simulator's commands `run`, `serve` and `open-loop`, and `link`, its real-time path for calls.
// `weir-sim --help` describes them.
#include <unistd.h>

#include <cstdint>

#include "command/program.h"
#include "link_process.h"
#include "programs/command_line.h"

namespace weir::sim {
namespace {

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

int Main(int argc, char** argv) {
  LinkOptions link;
  return RunSimulatorProgram(
      argc, argv,
      {.name = "weir-sim",
       .summary = "Simulates calls over network paths, with every controller.",
       .make_stack = nullptr,
       .other = {.add = [&link](CLI::App& app) { return AddLink(app, link); },
                 .run = [&link] { return RunLink(link, STDIN_FILENO, STDOUT_FILENO) ? kDone : kFailed; }}});
}

}  // namespace
}  // namespace weir::sim

int main(int argc, char** argv) { return weir::sim::Main(argc, argv); }
