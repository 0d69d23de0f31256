#include "endpoints/oracle_controller.h"

#include <algorithm>

#include "core/sim_time.h"

namespace weir::sim {
namespace {

// As often as transport feedback reaches the other senders.
constexpr TimeDelta kInterval = TimeDelta::Millis(50);
constexpr double kTargetUtilisation = 0.96;
// One packet in transmission and one that has just arrived are no queue.
constexpr int64_t kToleratedBytes = 2 * kMaxPacketBytes;

}  // namespace

void OracleController::OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  constraints_ = constraints;
  next_timeout_ = now;
}

NetworkControlUpdate OracleController::OnTimeout(Timestamp now) {
  next_timeout_ = now + kInterval;
  const DataRate target = std::min(Carriable(ToSimulatedNs(now)), constraints_.max_rate);
  NetworkControlUpdate update;
  update.target_rate = TargetTransferRate{.at_time = now, .target_rate = target};
  // A burst of media is spread over what the path carries.
  update.pacer_config = PacerConfig{.at_time = now, .pacing_rate = target, .padding_rate = DataRate::Zero()};
  return update;
}

DataRate OracleController::Carriable(int64_t now_ns) const {
  const auto& capacity = config_.link->spec().capacity;
  if (!capacity) return constraints_.max_rate;
  const double interval_s = kInterval.seconds();
  // What the path will carry until the next decision: on one that serves in slots, what it carries now says little.
  const int64_t end_ns = now_ns + kInterval.us() * 1000;
  const double capacity_bps = static_cast<double>(capacity->BitsBetween(now_ns, end_ns)) / interval_s;
  double target_bps =
      kTargetUtilisation * (capacity_bps - static_cast<double>(config_.cross_traffic_bps)) / config_.sharing_flows;
  if (config_.sharing_flows == 1) {
    const int64_t excess_bytes = config_.link->queued_bytes() - kToleratedBytes;
    target_bps -= static_cast<double>(std::max<int64_t>(0, excess_bytes)) * 8.0 / interval_s;
  }
  return DataRate::BitsPerSecondF(std::max(0.0, target_bps));
}

}  // namespace weir::sim
