// One scenario with its controllers and a seed, put together and run. ns-3 has one simulator a process, so one of these
// exists at a time; any number may follow one another, and none leaves a trace in the next.
#ifndef WEIR_TRAINER_GYM_SIM_RUN_SIMULATION_H_
#define WEIR_TRAINER_GYM_SIM_RUN_SIMULATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "endpoints/flow_observer.h"
#include "flows/flow_set.h"
#include "flows/simulation_job.h"
#include "link/link.h"

namespace weir::sim {

// A custom controller failed in the middle of a run: one line that names it and the failure.
class ControllerFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Simulation {
 public:
  // `observers`: one a flow, null for none; they and the job outlive this. Throws InputError.
  Simulation(const SimulationJob& job, std::span<FlowObserver* const> observers);
  // Frees ns-3's simulator.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // To the scenario's end, unless Stop() is called from within. Events at the very end are not executed, arrivals at it
  // count. Throws ControllerFailed.
  void Run();
  void Stop();
  bool stopped() const { return stopped_; }

  Link& forward() { return forward_; }
  Link& reverse() { return reverse_; }
  // See FlowSet.
  RtpSender* sender(size_t flow_index) { return flows_->sender(flow_index); }
  RtpReceiver* receiver(size_t flow_index) { return flows_->receiver(flow_index); }
  const std::string& controller(size_t flow_index) const { return flows_->controller(flow_index); }
  Objective objective(size_t flow_index) const { return flows_->objective(flow_index); }
  AgentController* agent() { return flows_->agent(); }
  size_t agent_flow_index() const { return flows_->agent_flow_index(); }

 private:
  Link forward_;
  Link reverse_;
  std::optional<FlowSet> flows_;
  bool stopped_ = false;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_SIMULATION_H_
