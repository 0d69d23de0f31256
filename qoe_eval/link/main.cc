// weir-sim: the simulator's commands, and `link`, its real-time path for calls. `weir-sim --help` describes them.
#include <unistd.h>

#include <cstdint>

#include "commands.h"
#include "link_process.h"

namespace weir::sim {
namespace {

constexpr char kLinkHelp[] =
    R"(the scenario's path in real time, between two network namespaces: TUN devices weir0 with
10.211.0.1 in LEFT (the sender) and 10.211.0.2 in RIGHT (the receiver). The scenario's
first RTP flow stands for the real packets; its other flows are simulated. Commands on
standard input, one JSON object a line: {"type":"start"}, {"type":"down","duration_s":5},
{"type":"stop"}. Events on standard output: ready, started, down, error, end. The end of
the input, SIGINT and SIGTERM stop it too)";

CLI::App* AddLink(CLI::App& app, LinkOptions& options) {
  CLI::App* const command = app.add_subcommand("link", kLinkHelp);
  command->add_option("SCENARIO.json", options.scenario_path)->type_name("")->required();
  AddJobOptions(*command, options.job);
  AddText(*command, "--left", "LEFT", "network namespaces, as `ip netns` names them", options.left)->required();
  AddText(*command, "--right", "RIGHT", "", options.right)->required();
  AddText(*command, "--log", "FILE", "capacity, queue, packets and delays, one JSON object a line", options.log_path)
      ->required();
  AddInteger(*command, "--log-interval-ms", "how often, 10 to 10000 (default 100)", options.log_interval_ms,
             int64_t{10}, int64_t{10'000});
  return command;
}

}  // namespace
}  // namespace weir::sim

int main(int argc, char** argv) {
  weir::sim::LinkOptions options;
  return weir::sim::SimulatorMain(argc, argv, [&options](CLI::App& app) {
    return weir::sim::Command{
        weir::sim::AddLink(app, options),
        [&options] { return weir::sim::RunLink(options, STDIN_FILENO, STDOUT_FILENO) ? weir::kDone : weir::kFailed; }};
  });
}
