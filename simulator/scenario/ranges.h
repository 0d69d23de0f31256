// Ranges of the numbers in a scenario document. The schema in traces/schema defines them; the simulator checks them
// once more.
#ifndef WEIR_SIMULATOR_SCENARIO_RANGES_H_
#define WEIR_SIMULATOR_SCENARIO_RANGES_H_

#include "programs/input.h"

namespace weir::sim {

// Keeps every time, in ns, far inside 64 bits.
inline constexpr double kMaxSeconds = 1e9;
// A day: it can be simulated in minutes, and its series fit into memory.
inline constexpr double kMaxDurationS = 86'400;
inline constexpr double kMaxRateBps = 1e10;

inline constexpr NumberRange kTimeS{.min = 0, .max = kMaxSeconds};
inline constexpr NumberRange kPositiveTimeS{.min = 0, .max = kMaxSeconds, .min_excluded = true};
inline constexpr NumberRange kDelayMs{.min = 0, .max = kMaxSeconds};
inline constexpr NumberRange kRatio{.min = 0, .max = 1};
inline constexpr NumberRange kRateBps{.min = 0, .max = kMaxRateBps};
inline constexpr NumberRange kPositiveRateBps{.min = 0, .max = kMaxRateBps, .min_excluded = true};
inline constexpr NumberRange kPositive{.min = 0, .min_excluded = true};
inline constexpr NumberRange kAtLeastOne{.min = 1};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SCENARIO_RANGES_H_
