// One direction of a real-time link: the Link, the real packets on it, and the log of both.
#ifndef WEIR_SIMULATOR_REAL_TIME_LINK_DIRECTION_H_
#define WEIR_SIMULATOR_REAL_TIME_LINK_DIRECTION_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/sim_time.h"
#include "endpoints/simulation_job.h"
#include "link/link.h"
#include "link/packet.h"
#include "tun.h"

namespace weir::sim {

class LinkDirection {
 public:
  // Has the scenario's mean capacity until Start. `output_fd` and `clock` as for TunFlow.
  LinkDirection(Direction direction, const SimulationJob& job, size_t real_flow_index, int output_fd,
                int64_t (*clock)());

  // Capacity, delay and loss follow the scenario from now on.
  void Start();

  Link& link() { return link_; }
  // Observes the simulated flows in this direction.
  FlowObserver* cross_traffic_observer() { return &cross_traffic_; }
  TunFlow& flow() { return flow_; }

  // Returns the log's line for the time since the last call. Simulator::Now() is `lag_ns` behind the clock.
  nlohmann::ordered_json TakeLog(int64_t clock_ns, int64_t lag_ns, std::optional<SimTime> start);

 private:
  struct CrossTraffic final : FlowObserver {
    void OnReceived(const Packet& packet, SimTime) override { bytes += packet.size_bytes; }
    // Bytes received since the last log.
    int64_t bytes = 0;
  };

  const Direction direction_;
  const std::optional<CapacityTrace> scenario_capacity_;
  Link link_;
  TunFlow flow_;
  CrossTraffic cross_traffic_;
  SimTime last_log_ = kTimeZero;
  SimDuration last_idle_ = SimDuration::Zero();
  SimDuration last_down_time_ = SimDuration::Zero();
  int64_t last_carried_bytes_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_REAL_TIME_LINK_DIRECTION_H_
