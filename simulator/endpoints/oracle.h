// The oracle: the rate that a sender with full knowledge of the path would use. An upper bound among controllers, and a
// teacher of policies.
#ifndef WEIR_SIMULATOR_ENDPOINTS_ORACLE_H_
#define WEIR_SIMULATOR_ENDPOINTS_ORACLE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "link/link.h"
#include "sender/sender_controller.h"
#include "weir/network_controller.h"
#include "weir/objective.h"

namespace weir::sim {

struct OracleConfig {
  const Link* link = nullptr;
  // Flows that want what they can get on this link, this one included: each is left an equal share.
  int sharing_flows = 1;
  // Constant cross traffic, which is taken off beforehand while it is there.
  struct CrossTraffic {
    int64_t from_ns = 0;
    int64_t to_ns = 0;
    int64_t rate_bps = 0;
  };
  std::vector<CrossTraffic> cross_traffic;
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

// Its mean from `from_ns` to `to_ns`, which is later, bit/s.
double CrossTrafficBps(const OracleConfig& config, int64_t from_ns, int64_t to_ns);

// In bit/s of IP packets: the aimed-at share of what the link carries (and its policer lets through) of this flow from
// `from_ns` to `to_ns`, less what drains a queue of `queued_bytes` beyond the packet in transmission and one that has
// just arrived. Among other flows it is this flow's share, and lets the queue be. Below 0 where nothing sent now drains
// it in time; infinite without a bottleneck.
double OracleBps(const OracleConfig& config, const OracleAim& aim, int64_t queued_bytes, int64_t from_ns,
                 int64_t to_ns);

// It reads the capacity of the path and the state of its queue, which no real controller can.
// Every 50 ms asks for 96 % of what the link carries (and its policer lets through) in the next 50 ms, less what is
// queued beyond the packet in transmission; it looks no further ahead, except where the link serves nothing for a
// while of the next 100 ms: then it lets media wait for the slot that follows. It may ask for nothing at all: the
// constraints' lower bound does not bind it. Among other flows it takes its share and lets the queue be.
// Without foresight it takes what the link carried in the last 50 ms for what it carries next: a bound for controllers
// that cannot foresee.
std::unique_ptr<SenderController> MakeOracleController(const OracleConfig& config, bool foresight);

// The same at the receiver, without foresight: what REMB can reach.
std::unique_ptr<ReceiverController> MakeOracleAtReceiver(const OracleConfig& config);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_ORACLE_H_
