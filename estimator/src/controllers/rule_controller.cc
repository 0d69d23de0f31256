#include "controllers/rule_controller.h"

#include <algorithm>
#include <utility>

namespace weir {

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
  return !options_.tolerate_sparse_packets || now - last_packets_ > (kFullPacket / target()) * 2.0;
}

DataRate RuleController::Decide(Timestamp now, TimeDelta elapsed) {
  slots_[slot_].duration = elapsed;
  const DataRate receive_rate = ReceiveRate();
  const TimeDelta delay = std::exchange(min_queueing_delay_, TimeDelta::PlusInfinity());
  slot_ = (slot_ + 1) % slots_.size();
  slots_[slot_] = Slot{};
  if (!delay.IsFinite()) {
    return last_packets_.IsFinite() && PacketWasDue(now) ? target() * kNoArrivalFactor : target();
  }
  last_packets_ = now;
  if (delay < kQueueThreshold) return std::min(target() * kIncreaseFactor, receive_rate * kHeadroomFactor + kHeadroom);
  return receive_rate * std::max(1.0 - (delay - kQueueTarget) / kQueueScale, kMinimumBackoff);
}

}  // namespace weir
