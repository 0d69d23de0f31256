// One flow of a running simulation.
#ifndef WEIR_SIMULATOR_ENDPOINTS_FLOW_H_
#define WEIR_SIMULATOR_ENDPOINTS_FLOW_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "core/random.h"
#include "endpoints/simulation_job.h"
#include "link/link.h"
#include "link/packet.h"
#include "scenario/scenario.h"
#include "weir/objective.h"

namespace weir::sim {

// The flow's specification by reference, and what the simulation adds to it. The job, the links and the observer must
// outlive the simulation's last event.
struct Flow {
  // Offsets of the flow's own random streams. The streams from kFirstStackStream on belong to its stack.
  static constexpr uint64_t kMediaStream = 0;
  static constexpr uint64_t kDecisionStream = 1;
  static constexpr uint64_t kFirstStackStream = 2;

  const SimulationJob& job;
  // The flow's place in the scenario.
  size_t index;
  Link* data_link;
  Link* return_link;
  FlowObserver* observer;
  // Only for RTP: the controller's name, which may be kAgentName, and its objective.
  std::string controller = {};
  Objective objective = kBalanced;

  const FlowSpec& spec() const { return job.scenario.flows[index]; }
  // For both of these, the flow's kind must be RTP.
  const RtpSpec& rtp() const { return std::get<RtpSpec>(spec().kind); }
  bool is_under_test() const { return rtp().controller == "under_test"; }
  RandomStream Random(uint64_t stream) const { return {job.random_seed(), random_streams::Flow(index) + stream}; }
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_FLOW_H_
