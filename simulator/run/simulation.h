// Sets up and runs a scenario with its controllers and a seed. ns-3 has one simulator per process, so only one
// Simulation may exist at a time. Successive simulations do not affect each other.
#ifndef WEIR_SIMULATOR_RUN_SIMULATION_H_
#define WEIR_SIMULATOR_RUN_SIMULATION_H_

#include <ns3/simulator.h>

#include <memory>
#include <optional>
#include <span>

#include "core/event.h"
#include "core/random.h"
#include "endpoints/simulation_job.h"
#include "flows/flow_set.h"
#include "flows/stack.h"
#include "link/link.h"
#include "link/packet.h"
#include "programs/input.h"

namespace weir::sim {

class Simulation {
 public:
  // `observers`: one per flow, each may be null. They and the job must outlive this object. Throws ProgramError.
  Simulation(const SimulationJob& job, std::span<FlowObserver* const> observers, const MakeStack& make_stack = nullptr)
      : forward_(job.scenario.forward, job.scenario.duration, job.random_seed(), random_streams::kForwardLink),
        reverse_(job.scenario.reverse, job.scenario.duration, job.random_seed(), random_streams::kReverseLink) {
    UseEventEngine();
    // Scheduled first, so that it precedes all other events of that time.
    ns3::Simulator::Stop(ns3::TimeStep(job.scenario.duration.ns()));
    try {
      if (make_stack) stack_ = make_stack(job);
      flows_.emplace(job, &forward_, &reverse_, observers, stack_.get());
      if (job.agent && !flows_->agent())
        throw ProgramError("the scenario has no RTP flow \"under_test\" for the agent");
    } catch (...) {
      ns3::Simulator::Destroy();
      throw;
    }
  }
  // Frees ns-3's simulator.
  ~Simulation() { ns3::Simulator::Destroy(); }
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs to the scenario's end, unless Stop() is called from within. Events at the end are not executed, arrivals at it
  // count. Throws ProgramError.
  void Run() {
    if (stack_) {
      stack_->Run();
    } else {
      ns3::Simulator::Run();
    }
    flows_->ProcessArrivals(Now());
  }
  void Stop() {
    stopped_ = true;
    ns3::Simulator::Stop();
  }
  bool stopped() const { return stopped_; }

  Link& forward() { return forward_; }
  Link& reverse() { return reverse_; }
  FlowSet& flows() { return *flows_; }

 private:
  Link forward_;
  Link reverse_;
  // Null for the simulator's own endpoints.
  std::unique_ptr<Stack> stack_;
  std::optional<FlowSet> flows_;
  bool stopped_ = false;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_RUN_SIMULATION_H_
