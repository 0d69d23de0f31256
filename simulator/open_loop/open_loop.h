// `weir-sim open-loop`: the targets of a controller on packets and feedback recorded in another controller's call.
#ifndef WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_H_
#define WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_H_

#include <cstdint>
#include <iosfwd>

#include "run/run.h"

namespace weir::sim {

struct OpenLoopOptions {
  JobOptions job;
  // Bounds of targets, and the first target.
  int64_t min_bps = 30'000;
  int64_t start_bps = 300'000;
  int64_t max_bps = 50'000'000;
};

// Reads events, one JSON object a line, in the order of time, as weir-event-log writes them
// (logs/event_log/README.md). Writes a line for each new target: {"time_us": ..., "target_bps": ...}. Decisions
// do not change the packets. Throws ProgramError for an invalid line, and if no packet is for the controller.
void RunOpenLoop(const OpenLoopOptions& options, std::istream& in, std::ostream& out);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_H_
