#include "weir/network_types.h"

#include <algorithm>

namespace weir {

Result<TargetRateConstraints> Validated(const TargetRateConstraints& constraints) {
  const auto is_bound = [](DataRate rate) { return rate.IsFinite() && rate > DataRate::Zero(); };
  if (!is_bound(constraints.min_rate) || !is_bound(constraints.max_rate) || constraints.min_rate > constraints.max_rate)
    return Error{"the rates must be finite, above 0, and min_rate at most max_rate"};
  TargetRateConstraints valid = constraints;
  valid.start_rate = std::clamp(constraints.start_rate, constraints.min_rate, constraints.max_rate);
  return valid;
}

}  // namespace weir
