// Bounds the work of a run: events, packets sent, and other work that a scenario's numbers can make long.
#ifndef WEIR_SIMULATOR_CORE_STEP_LIMIT_H_
#define WEIR_SIMULATOR_CORE_STEP_LIMIT_H_

#include <cstdint>
#include <limits>

#include "programs/input.h"

namespace weir::sim {

// A day at 50 Mbps takes a quarter of this.
inline constexpr int64_t kMaxSteps = 4'000'000'000;
inline constexpr int64_t kUnlimitedSteps = std::numeric_limits<int64_t>::max();

// Steps left in the current simulation. Unlimited in real time.
inline int64_t steps_left = kUnlimitedSteps;

// Throws ProgramError when none is left.
inline void SpendSteps(int64_t steps) {
  steps_left -= steps;
  if (steps_left < 0)
    throw ProgramError("it takes more than 4 billion steps; shorten the scenario, or lower its rates");
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_CORE_STEP_LIMIT_H_
