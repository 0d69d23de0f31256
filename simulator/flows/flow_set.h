// The simulated flows of a scenario, on the two links of its path.
#ifndef WEIR_SIMULATOR_FLOWS_FLOW_SET_H_
#define WEIR_SIMULATOR_FLOWS_FLOW_SET_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "endpoints/agent.h"
#include "endpoints/simulation_job.h"
#include "flows/stack.h"
#include "link/link.h"
#include "link/packet.h"
#include "scenario/scenario.h"
#include "weir/objective.h"

namespace weir::sim {

// Inputs of a flow. The links and the observer, which may be null, must outlive the simulation's last event.
struct FlowContext {
  const FlowSpec& flow;
  Link* data_link;
  Link* return_link;
  FlowObserver* observer;
  uint64_t seed;
  // The first of the flow's own random streams.
  uint64_t stream;
};

class FlowSet {
 public:
  struct Flow {
    // The controller's name and objective.
    std::string controller;
    Objective objective;
    // Null for flows that are not RTP.
    std::unique_ptr<RtpEnds> rtp;
    // A flow of another kind.
    std::shared_ptr<void> other;
  };

  // Schedules the flows' start. `observers` has one entry per flow, which may be null. The flow `skipped` is omitted.
  // All arguments must outlive this object, and this object the simulation's last event. Throws ProgramError.
  FlowSet(const SimulationJob& job, Link* forward, Link* reverse, std::span<FlowObserver* const> observers,
          Stack* stack, std::optional<size_t> skipped = std::nullopt);
  ~FlowSet() = default;
  FlowSet(const FlowSet&) = delete;
  FlowSet& operator=(const FlowSet&) = delete;

  // Makes the receivers process all packets that have arrived by `until_ns`.
  void ProcessArrivals(int64_t until_ns);

  const Flow& operator[](size_t flow_index) const { return flows_[flow_index]; }
  // Null without an agent.
  PolicyController* agent() const;

 private:
  void AddRtpFlow(size_t index, FlowObserver* observer);
  std::string ControllerFor(const RtpSpec& rtp, size_t index) const;

  const SimulationJob& job_;
  Link* const forward_;
  Link* const reverse_;
  Stack* const stack_;
  FlowObserver null_observer_;
  std::vector<Flow> flows_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_FLOW_SET_H_
