// Weights of throughput, latency and loss, after MOCC (EuroSys 2022, section 4.1). They can change during a call.
#ifndef WEIR_OBJECTIVE_H_
#define WEIR_OBJECTIVE_H_

#include <optional>
#include <string_view>

#include "weir/result.h"

namespace weir {

// Each weight is in (0, 1); their sum is 1.
struct Objective {
  float throughput = 0.5f;
  float latency = 0.4f;
  float loss = 0.1f;

  friend bool operator==(const Objective&, const Objective&) = default;
};

inline constexpr Objective kBalanced{0.5f, 0.4f, 0.1f};
inline constexpr Objective kThroughput{0.8f, 0.1f, 0.1f};
inline constexpr Objective kLatency{0.1f, 0.8f, 0.1f};

// Divides the weights by their sum. Returns nothing if a weight is not finite or not above 0, or if a result rounds to
// 0 or 1.
std::optional<Objective> NormalizedObjective(float throughput, float latency, float loss);

// Returns the error of an objective that is not normalized: a weight is outside (0, 1), or the sum differs from 1 by
// more than 0.001.
[[nodiscard]] std::optional<Error> CheckObjective(const Objective& objective);

struct ObjectivePresetEntry {
  std::string_view name;  // lower case, unique
  Objective objective;
};

// Python reads this table too (weir_sim.controllers). The first is the default.
inline constexpr ObjectivePresetEntry kObjectivePresets[] = {
    {.name = "balanced", .objective = kBalanced},
    {.name = "throughput", .objective = kThroughput},
    {.name = "latency", .objective = kLatency},
};

// Returns nothing for a name that is not in `kObjectivePresets`.
std::optional<Objective> ObjectivePreset(std::string_view name);

}  // namespace weir

#endif  // WEIR_OBJECTIVE_H_
