// The rate that whoever knew the path would ask for; what the oracle asks for, and what a policy can be taught.
#ifndef WEIR_TRAINER_GYM_SIM_LINK_ORACLE_RATE_H_
#define WEIR_TRAINER_GYM_SIM_LINK_ORACLE_RATE_H_

#include <cstdint>

#include "link/link.h"
#include "weir/objective.h"

namespace weir::sim {

struct OracleConfig {
  const Link* link = nullptr;
  // Flows that want what they can get on this link, this one included: each is left an equal share.
  int sharing_flows = 1;
  // Constant cross traffic that is taken off beforehand.
  int64_t cross_traffic_bps = 0;
};

// How use of the link is weighed against its queue.
struct OracleAim {
  // Share of what the link carries, in (0, 1].
  double utilisation = 0.96;
  // Within what time the queue is to be gone.
  int64_t drain_ns = 50'000'000;
};

// 0.96 and 50 ms at `balanced`, 1 and 200 ms at `throughput`, 0.85 and 30 ms at `latency`; between these linear in the
// weight of throughput as a share of those of throughput and latency, beyond them constant. Loss does not count: its
// cure is the drained queue.
OracleAim AimOf(const Objective& objective);

// In bit/s of IP packets: the aimed-at share of what the link carries (and its policer lets through) of this flow from
// `from_ns` to `to_ns`, less what drains a queue of `queued_bytes` beyond the packet in transmission and one that has
// just arrived. Among other flows it is this flow's share, and lets the queue be. Below 0 where nothing sent now drains
// it in time; infinite without a bottleneck.
double OracleBps(const OracleConfig& config, const OracleAim& aim, int64_t queued_bytes, int64_t from_ns,
                 int64_t to_ns);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_LINK_ORACLE_RATE_H_
