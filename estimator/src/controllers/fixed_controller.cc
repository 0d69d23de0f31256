#include "weir/controllers/fixed_controller.h"

#include <algorithm>

namespace weir {

void FixedController::OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  constraints_ = constraints;
  next_timeout_ = now;
}

NetworkControlUpdate FixedController::OnTimeout(Timestamp now) {
  NetworkControlUpdate update;
  if (now < next_timeout_) return update;
  next_timeout_ = Timestamp::PlusInfinity();
  update.target_rate = TargetTransferRate{now, std::clamp(wanted_, constraints_.min_rate, constraints_.max_rate)};
  return update;
}

}  // namespace weir
