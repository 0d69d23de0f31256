// `weir-sim link`: a scenario's path in real time, between two devices that are already open.
#ifndef WEIR_SIMULATOR_REAL_TIME_LINK_PROCESS_H_
#define WEIR_SIMULATOR_REAL_TIME_LINK_PROCESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/sim_time.h"
#include "run/run.h"

namespace weir::sim {

struct LinkCommand {
  // Start the scenario's time 0 now, drop all packets for `down_duration`, or stop.
  enum class Type { kStart, kDown, kStop };
  Type type = Type::kStart;
  SimDuration down_duration = SimDuration::Zero();
};

// {"type":"start"}, {"type":"down","duration_s":5} or {"type":"stop"}. Throws ProgramError.
LinkCommand ParseLinkCommand(std::string_view line);

struct LinkOptions {
  std::string scenario_path;
  // For RTP flows "under_test" other than the first, which is the real call.
  JobOptions job;
  // Inherited descriptors of two TUN devices or packet sockets, as TunFlow requires them.
  int left_fd = -1;
  int right_fd = -1;
  std::string log_path;
  int64_t log_interval_ms = 100;
};

// Reads commands and writes progress, one JSON object a line, until the command to stop. Returns true after an orderly
// stop. Throws ProgramError before the link starts.
bool RunLink(const LinkOptions& options, int input_fd, int output_fd);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REAL_TIME_LINK_PROCESS_H_
