// The simulated flows of a scenario, on the two links of its path.
#ifndef WEIR_SIMULATOR_FLOWS_FLOW_SET_H_
#define WEIR_SIMULATOR_FLOWS_FLOW_SET_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/sim_time.h"
#include "endpoints/agent.h"
#include "endpoints/flow.h"
#include "endpoints/simulation_job.h"
#include "flows/stack.h"
#include "link/link.h"
#include "link/packet.h"

namespace weir::sim {

class FlowSet {
 public:
  struct Entry {
    Flow flow;
    // Null for flows that are not RTP.
    std::unique_ptr<RtpEnds> rtp = nullptr;
    // A flow of another kind.
    std::shared_ptr<void> other = nullptr;
  };

  // Schedules the flows' start. `observers` has one entry per flow, which may be null. `stack` is null for the
  // simulator's own endpoints. The flow `skipped` is not started. All arguments must outlive this object, and this
  // object the simulation's last event. Throws ProgramError.
  FlowSet(const SimulationJob& job, Link* forward, Link* reverse, std::span<FlowObserver* const> observers,
          Stack* stack, std::optional<size_t> skipped = std::nullopt);
  ~FlowSet() = default;
  FlowSet(const FlowSet&) = delete;
  FlowSet& operator=(const FlowSet&) = delete;

  // Makes the receivers process all packets that have arrived by `until`.
  void ProcessArrivals(SimTime until);

  const Entry& operator[](size_t flow_index) const { return flows_[flow_index]; }
  // Null without an agent.
  PolicyController* agent() const;

 private:
  void Start(Entry& entry, Stack* stack);
  // The name of the controller of an RTP flow that comes after those in `flows_`.
  std::string ControllerFor(const RtpSpec& rtp) const;

  const SimulationJob& job_;
  FlowObserver null_observer_;
  // Flows refer to their entries, so these never move.
  std::vector<Entry> flows_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_FLOW_SET_H_
