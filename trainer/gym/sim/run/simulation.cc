#include "run/simulation.h"

#include <ns3/simulator.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "core/random.h"

namespace weir::sim {

Simulation::Simulation(const SimulationJob& job, std::span<FlowObserver* const> observers)
    : forward_(job.scenario.forward, job.scenario.duration_ns(), job.seed, random_streams::kForwardLink),
      reverse_(job.scenario.reverse, job.scenario.duration_ns(), job.seed, random_streams::kReverseLink) {
  UseEventEngine();
  // Before anything else is scheduled, so that it comes before what else is due then.
  ns3::Simulator::Stop(ns3::TimeStep(job.scenario.duration_ns()));
  try {
    flows_.emplace(job, &forward_, &reverse_, observers);
    if (job.agent && !flows_->agent()) throw InputError("the scenario has no RTP flow \"under_test\" for the agent");
  } catch (...) {
    ns3::Simulator::Destroy();
    throw;
  }
}

Simulation::~Simulation() { ns3::Simulator::Destroy(); }

void Simulation::Run() {
  ns3::Simulator::Run();
  if (const std::string failure = flows_->controller_failure(); !failure.empty()) throw ControllerFailed(failure);
  flows_->ProcessArrivals(NowNs());
}

void Simulation::Stop() {
  stopped_ = true;
  ns3::Simulator::Stop();
}

}  // namespace weir::sim
