#include "controllers/rule_controller.h"

namespace weir {

// True if a packet was due at the target rate, allowing for one that is lost or late.
bool RuleController::PacketWasDue(Timestamp now) const {
  return !options_.tolerate_sparse_packets || now - last_packets_ > (kFullPacket / target()) * 2.0;
}

bool RuleController::SenderIsIdle(Timestamp now) const {
  return options_.tolerate_sparse_packets && intervals_.is_empty() && now - last_packets_ < gaps_.Expected();
}

DataRate RuleController::Decide(Timestamp now, TimeDelta elapsed) {
  gaps_.SetTarget(target());
  if (SenderIsIdle(now)) return target();
  const auto [latest, all] = intervals_.End(elapsed);
  if (latest.packets == 0) {
    return last_packets_.IsFinite() && PacketWasDue(now) ? target() * Rule::kNoArrivalFactor : target();
  }
  last_packets_ = now;
  return Rule::AfterArrivals(all.ReceiveRate(), latest.min_queueing_delay, target());
}

}  // namespace weir
