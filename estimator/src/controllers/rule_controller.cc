#include "controllers/rule_controller.h"

#include <algorithm>

namespace weir {

void RuleController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  constraints_ = constraints;
  if (!last_timeout_.IsFinite()) {
    target_ = constraints.start_rate;
    last_timeout_ = constraints.at_time;
    timer_.Start(constraints.at_time, kInterval);
  }
  target_ = std::clamp(target_, constraints.min_rate, constraints.max_rate);
}

void RuleController::OnArrival(const Arrival& arrival) {
  slots_[slot_].size += arrival.packet.size();
  min_queueing_delay_ = std::min(min_queueing_delay_, arrival.queueing_delay);
}

DataRate RuleController::ReceiveRate() const {
  DataSize size = DataSize::Zero();
  TimeDelta duration = TimeDelta::Zero();
  for (const Slot& slot : slots_) {
    size += slot.size;
    duration += slot.duration;
  }
  return duration > TimeDelta::Zero() ? size / duration : DataRate::Zero();
}

// At the target, with room for one packet that is lost or late.
bool RuleController::PacketWasDue(Timestamp now) const {
  return !options_.tolerate_sparse_packets || now - last_packets_ > (kFullPacket / target_) * 2.0;
}

ReceiverControlUpdate RuleController::OnTimeout(Timestamp now) {
  ReceiverControlUpdate update;
  if (!timer_.Take(now)) return update;
  slots_[slot_].duration = now - last_timeout_;
  last_timeout_ = now;

  const DataRate receive_rate = ReceiveRate();
  if (!min_queueing_delay_.IsFinite()) {
    if (last_packets_.IsFinite() && PacketWasDue(now)) target_ = target_ * kNoArrivalFactor;
  } else if (min_queueing_delay_ < kQueueThreshold) {
    target_ = std::min(target_ * kIncreaseFactor, receive_rate * kHeadroomFactor + kHeadroom);
  } else {
    target_ = receive_rate * std::max(1.0 - (min_queueing_delay_ - kQueueTarget) / kQueueScale, kMinimumBackoff);
  }
  target_ = std::clamp(target_, constraints_.min_rate, constraints_.max_rate);

  if (min_queueing_delay_.IsFinite()) last_packets_ = now;
  slot_ = (slot_ + 1) % slots_.size();
  slots_[slot_] = Slot{};
  min_queueing_delay_ = TimeDelta::PlusInfinity();
  update.target_rate = target_;
  return update;
}

}  // namespace weir
