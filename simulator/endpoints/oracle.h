// The oracle: the rate that a sender with full knowledge of the path would use. An upper bound for controllers, and a
// teacher of policies.
#ifndef WEIR_SIMULATOR_ENDPOINTS_ORACLE_H_
#define WEIR_SIMULATOR_ENDPOINTS_ORACLE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/sim_time.h"
#include "link/link.h"
#include "weir/network_controller.h"
#include "weir/objective.h"
#include "weir/sender_controller.h"

namespace weir::sim {

struct OracleConfig {
  const Link* link = nullptr;
  // Number of greedy flows on this link, this one included. Each gets an equal share.
  int sharing_flows = 1;
  // Constant cross traffic, which is subtracted from the capacity while it is active.
  struct CrossTraffic {
    SimTime from = kTimeZero;
    SimTime to = kTimeZero;
    int64_t rate_bps = 0;
  };
  std::vector<CrossTraffic> cross_traffic;
};

// The trade-off between utilization of the link and its queue.
struct OracleAim {
  // Fraction of the capacity, in (0, 1].
  double utilisation = 0.96;
  // Time in which the queue drains.
  SimDuration drain_time = SimDuration::Millis(50);
};

// 0.96 and 50 ms at `balanced`, 1 and 200 ms at `throughput`, 0.85 and 30 ms at `latency`; between these linear in
// throughput / (throughput + latency), beyond them constant. The weight of loss is ignored: a drained queue avoids
// loss.
OracleAim AimOf(const Objective& objective);

// The mean rate of cross traffic from `from` to `to`, which is later, in bit/s.
double CrossTrafficBps(const OracleConfig& config, SimTime from, SimTime to);

// The target in bit/s of IP packets: `aim.utilisation` of the capacity (of link and policer) from `from` to `to`
// without cross traffic, less the rate that drains `queued_bytes` beyond the packet in transmission and one that has
// just arrived. Among other flows it is this flow's share and ignores the queue. Below 0 if the queue cannot drain in
// time; infinite without a bottleneck.
double OracleBps(const OracleConfig& config, const OracleAim& aim, int64_t queued_bytes, SimTime from, SimTime to);

// Makes a controller that reads the path's capacity and queue, which no real controller can, and follows its objective
// by `AimOf`. Under `balanced`, every 50 ms its target is 96 % of the capacity (of link and policer) in the next 50 ms,
// less the queue beyond the packet in transmission. It
// looks further ahead only if the link serves nothing for some of the next 100 ms: media then waits for the next slot.
// The target may be 0: the constraints' lower bound does not apply. Among other flows it takes its share and ignores
// the queue. Without foresight it assumes the capacity of the last 50 ms: a bound for controllers that cannot foresee.
std::unique_ptr<SenderController> MakeOracleController(const OracleConfig& config, const Objective& objective,
                                                       bool foresight);

// Makes the oracle at the receiver, without foresight: a bound for controllers that send REMB.
std::unique_ptr<ReceiverController> MakeOracleAtReceiver(const OracleConfig& config);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_ORACLE_H_
