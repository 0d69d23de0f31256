#include "weir/rate_controller.h"

#include <algorithm>

namespace weir {

std::optional<TargetRateConstraints> Validated(const TargetRateConstraints& constraints) {
  const auto is_bound = [](DataRate rate) { return rate.IsFinite() && rate > DataRate::Zero(); };
  if (!is_bound(constraints.min_rate) || !is_bound(constraints.max_rate)) return std::nullopt;
  if (constraints.min_rate > constraints.max_rate) return std::nullopt;
  TargetRateConstraints valid = constraints;
  valid.start_rate = std::clamp(constraints.start_rate, constraints.min_rate, constraints.max_rate);
  return valid;
}

}  // namespace weir
