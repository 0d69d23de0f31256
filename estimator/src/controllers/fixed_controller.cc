#include "controllers/fixed_controller.h"

#include <algorithm>

namespace weir {

void FixedController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  constraints_ = constraints;
  next_timeout_ = constraints.at_time;
}

void FixedController::OnArrival(const Arrival& arrival) {
  if (any_packets_) return;
  any_packets_ = true;
  next_timeout_ = arrival.packet.arrival_time;
}

ReceiverControlUpdate FixedController::OnTimeout(Timestamp now) {
  ReceiverControlUpdate update;
  if (now < next_timeout_) return update;
  next_timeout_ = Timestamp::PlusInfinity();
  update.target_rate = std::clamp(wanted_, constraints_.min_rate, constraints_.max_rate);
  return update;
}

}  // namespace weir
