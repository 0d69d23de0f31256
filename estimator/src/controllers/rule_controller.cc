#include "controllers/rule_controller.h"

#include <algorithm>

namespace weir {

// True if a packet was due at the target rate, allowing for one that is lost or late.
bool RuleController::PacketWasDue(Timestamp now) const {
  return !options_.tolerate_sparse_packets || now - last_packets_ > (kFullPacket / target()) * 2.0;
}

DataRate RuleController::Decide(Timestamp now, TimeDelta elapsed) {
  const auto [latest, all] = intervals_.End(elapsed);
  const TimeDelta delay = latest.min_queueing_delay;
  if (latest.packets == 0) {
    return last_packets_.IsFinite() && PacketWasDue(now) ? target() * kNoArrivalFactor : target();
  }
  last_packets_ = now;
  const DataRate receive_rate = all.ReceiveRate();
  if (delay < kQueueThreshold) return std::min(target() * kIncreaseFactor, receive_rate * kHeadroomFactor + kHeadroom);
  return receive_rate * std::max(1.0 - (delay - kQueueTarget) / kQueueScale, kMinimumBackoff);
}

}  // namespace weir
