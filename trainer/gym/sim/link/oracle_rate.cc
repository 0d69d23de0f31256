#include "link/oracle_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weir::sim {
namespace {

// One packet in transmission and one that has just arrived are no queue.
constexpr int64_t kToleratedBytes = 2 * kMaxPacketBytes;
constexpr double kUnlimitedBps = std::numeric_limits<double>::infinity();

double ThroughputShare(const Objective& objective) {
  return static_cast<double>(objective.throughput) / (static_cast<double>(objective.throughput) + objective.latency);
}

OracleAim Between(const OracleAim& low, const OracleAim& high, double share) {
  return {std::lerp(low.utilisation, high.utilisation, share),
          std::llround(std::lerp(static_cast<double>(low.drain_ns), static_cast<double>(high.drain_ns), share))};
}

}  // namespace

OracleAim AimOf(const Objective& objective) {
  constexpr OracleAim kLatencyAim{0.85, 30'000'000}, kThroughputAim{1.0, 200'000'000};
  constexpr OracleAim kBalancedAim;
  const double share = ThroughputShare(objective), balanced = ThroughputShare(kBalanced);
  const auto position = [&](double from, double to) { return std::clamp((share - from) / (to - from), 0.0, 1.0); };
  if (share < balanced) return Between(kLatencyAim, kBalancedAim, position(ThroughputShare(kLatency), balanced));
  return Between(kBalancedAim, kThroughputAim, position(balanced, ThroughputShare(kThroughput)));
}

double OracleBps(const OracleConfig& config, const OracleAim& aim, int64_t queued_bytes, int64_t from_ns,
                 int64_t to_ns) {
  const LinkSpec& link = config.link->spec();
  const double capacity_bps =
      link.PolicedBps(link.capacity ? static_cast<double>(link.capacity->BitsBetween(from_ns, to_ns)) * 1e9 /
                                          static_cast<double>(to_ns - from_ns)
                                    : kUnlimitedBps);
  const double share_bps =
      aim.utilisation * (capacity_bps - static_cast<double>(config.cross_traffic_bps)) / config.sharing_flows;
  if (config.sharing_flows > 1) return share_bps;
  const int64_t excess_bytes = queued_bytes - kToleratedBytes;
  return share_bps - static_cast<double>(std::max<int64_t>(0, excess_bytes)) * 8e9 / static_cast<double>(aim.drain_ns);
}

}  // namespace weir::sim
