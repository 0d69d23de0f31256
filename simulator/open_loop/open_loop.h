// `weir-sim open-loop`: the targets of a controller on packets and feedback that another's call recorded.
#ifndef WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_H_
#define WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_H_

#include <cstdint>
#include <iosfwd>

#include "run/run.h"

namespace weir::sim {

struct OpenLoopOptions {
  JobOptions job;
  // Bounds of the targets, and the first one.
  int64_t min_bps = 30'000;
  int64_t start_bps = 300'000;
  int64_t max_bps = 50'000'000;
};

// Reads events, one JSON object a line, in the order of time, as weir-event-log writes them; README.md has those that
// count. Writes a line for each new target: {"time_us": ..., "target_bps": ...}. The packets stay as they were,
// whatever the controller decides. Throws ProgramError: for a line that is invalid, and where the controller found no
// packet.
void RunOpenLoop(const OpenLoopOptions& options, std::istream& in, std::ostream& out);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_OPEN_LOOP_OPEN_LOOP_H_
