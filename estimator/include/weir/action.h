// The conversion of a policy's output into a rate, shared by the estimator, the simulator and the tests.
#ifndef WEIR_ACTION_H_
#define WEIR_ACTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weir/units.h"

namespace weir {

enum class ActionKind : uint8_t {
  kRate,      // "rate_bps": the rate itself
  kLogRate,   // "log_rate": -1 is the smallest rate, 1 the largest, geometric in between
  kRelative,  // "relative": MOCC Eq. 1, x (1 + alpha a) for a > 0, x / (1 - alpha a) for a < 0
  kDiscrete,  // "discrete": a choice among multipliers of the current rate, after MVFST-RL
};

// Parses "rate_bps", "log_rate", "relative" or "discrete". Returns nothing for any other name.
std::optional<ActionKind> ParseActionKind(std::string_view name);
std::string_view ToString(ActionKind kind);

struct ActionMapping {
  ActionKind kind = ActionKind::kLogRate;
  // Bounds of every result. Both are positive and finite, and min <= max.
  DataRate min_rate = DataRate::KilobitsPerSecond(30);
  DataRate max_rate = DataRate::KilobitsPerSecond(50'000);
  // kRelative only.
  double alpha = 0.025;
  // kDiscrete only; each positive.
  std::vector<float> multipliers;

  // Returns the rate for `action`, within the bounds. `current` is the rate in force. An action has one element, which
  // for kDiscrete is the index of a multiplier. kDiscrete also takes one score per multiplier and uses the highest, the
  // first of equals. Returns nothing if the action has another size, is not finite, or refers to a multiplier that does
  // not exist.
  std::optional<DataRate> Apply(std::span<const float> action, DataRate current) const;
};

}  // namespace weir

#endif  // WEIR_ACTION_H_
