// The one place where the output of a policy becomes a rate; the estimator, the simulator and the tests all use it.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_ACTION_H_
#define WEIR_ESTIMATOR_SRC_POLICY_ACTION_H_

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

// "rate_bps", "log_rate", "relative", "discrete"; nothing for any other name.
std::optional<ActionKind> ParseActionKind(std::string_view name);
std::string_view ToString(ActionKind kind);

struct ActionMapping {
  ActionKind kind = ActionKind::kLogRate;
  // Bounds of every result; both positive and finite, min <= max.
  DataRate min_rate = DataRate::KilobitsPerSecond(30);
  DataRate max_rate = DataRate::KilobitsPerSecond(50'000);
  // kRelative only.
  double alpha = 0.025;
  // kDiscrete only; each positive.
  std::vector<float> multipliers;

  // The rate that `action` asks for, within the bounds; `current` is the rate in force. An action has one element, save
  // that kDiscrete also takes one score per multiplier and follows the highest (the first of equals); its one element
  // otherwise is the index of the multiplier. Nothing when the action has another size, is not finite, or names a
  // multiplier that does not exist.
  std::optional<DataRate> Apply(std::span<const float> action, DataRate current) const;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_ACTION_H_
