#include "simulation.h"

#include <ns3/simulator.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "controller_failed.h"
#include "random.h"
#include "rtp_format.h"

namespace weir::sim {

Simulation::Simulation(const SimulationJob& job, std::span<FlowObserver* const> observers)
    : forward_(job.scenario.forward, job.scenario.duration_ns(), job.seed, random_streams::kForwardLink),
      reverse_(job.scenario.reverse, job.scenario.duration_ns(), job.seed, random_streams::kReverseLink) {
  UseFastScheduler();
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

std::vector<std::pair<int64_t, int64_t>> ActiveSpans(const FlowSpec& flow) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  int64_t from_ns = flow.start_ns;
  if (const auto* rtp = std::get_if<RtpSpec>(&flow.kind)) {
    for (const auto& [pause_ns, resume_ns] : rtp->pauses_ns) {
      if (pause_ns > from_ns) spans.emplace_back(from_ns, std::min(pause_ns, flow.stop_ns));
      from_ns = std::max(from_ns, resume_ns);
    }
  }
  if (from_ns < flow.stop_ns) spans.emplace_back(from_ns, flow.stop_ns);
  return spans;
}

double CarriableBits(const Scenario& scenario, const FlowSpec& flow, int64_t from_ns, int64_t to_ns) {
  const auto* rtp = std::get_if<RtpSpec>(&flow.kind);
  const int64_t cap_bps = rtp ? MaxMediaRate(rtp->media, kSendSideOverheadBytes).bps() : CapacityTrace::kMaxRateBps;
  const LinkSpec& link = flow.direction == Direction::kForward ? scenario.forward : scenario.reverse;
  const auto& capacity = link.capacity;
  double bits = 0;
  for (const auto& [span_from_ns, span_to_ns] : ActiveSpans(flow)) {
    const int64_t begin_ns = std::max(from_ns, span_from_ns);
    const int64_t end_ns = std::min(to_ns, span_to_ns);
    if (begin_ns >= end_ns) continue;
    bits += capacity ? static_cast<double>(capacity->BitsBetween(begin_ns, end_ns, cap_bps))
                     : static_cast<double>(cap_bps) * static_cast<double>(end_ns - begin_ns) * 1e-9;
  }
  return bits;
}

}  // namespace weir::sim
