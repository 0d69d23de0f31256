#include "endpoints/oracle_controller.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/event.h"
#include "endpoints/achievable.h"

namespace weir::sim {
namespace {

// As often as transport feedback reaches the other senders.
constexpr TimeDelta kInterval = TimeDelta::Millis(50);
constexpr int64_t kIntervalNs = kInterval.us() * 1000;
// How far it looks ahead, and in what steps, where the path serves in slots.
constexpr int64_t kLongestSlotNs = AchievableThroughput::kLongestWaitNs;
constexpr int64_t kStepNs = 10'000'000;
constexpr double kUnlimitedBps = std::numeric_limits<double>::infinity();

bool ServesInSlots(const CapacityTrace& capacity, int64_t now_ns) {
  bool stops = false;
  capacity.ForEachRate(now_ns, now_ns + kLongestSlotNs,
                       [&stops](int64_t rate_bps, int64_t) { stops |= rate_bps == 0; });
  return stops;
}

}  // namespace

void OracleController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  constraints_ = constraints;
  next_timeout_ = constraints.at_time;
}

NetworkControlUpdate OracleController::OnTimeout(Timestamp now) {
  next_timeout_ = now + kInterval;
  const DataRate target = std::min(Carried(ToSimulatedNs(now)), constraints_.max_rate);
  NetworkControlUpdate update;
  update.target_rate = TargetTransferRate{.at_time = now, .target_rate = target};
  // A burst of media is spread over what the path carries.
  update.pacer_config = PacerConfig{.at_time = now, .pacing_rate = target, .padding_rate = DataRate::Zero()};
  return update;
}

DataRate OracleController::Carried(int64_t now_ns) const {
  const LinkSpec& link = config_.link->spec();
  if (!link.capacity && std::isinf(link.PolicedBps(kUnlimitedBps))) return constraints_.max_rate;
  double target_bps = CarriedWithin(now_ns, kIntervalNs);
  if (link.capacity && ServesInSlots(*link.capacity, now_ns)) {
    // What it carries until the next decision says little: a queue may wait for a slot, and is gone after it.
    for (int64_t horizon_ns = kIntervalNs + kStepNs; horizon_ns <= kLongestSlotNs; horizon_ns += kStepNs) {
      target_bps = std::max(target_bps, CarriedWithin(now_ns, horizon_ns));
    }
  }
  return DataRate::BitsPerSecondF(std::max(0.0, target_bps));
}

double OracleController::CarriedWithin(int64_t now_ns, int64_t horizon_ns) const {
  return OracleBps(config_, {.drain_ns = horizon_ns}, config_.link->queued_bytes(), now_ns, now_ns + horizon_ns);
}

}  // namespace weir::sim
