#include "flows/flow_set.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "endpoints/controllers.h"

namespace weir::sim {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace

FlowSet::FlowSet(const SimulationJob& job, Link* forward, Link* reverse, std::span<FlowObserver* const> observers,
                 Stack* stack, std::optional<size_t> skipped)
    : job_(job) {
  flows_.reserve(job_.scenario.flows.size());
  for (size_t i = 0; i < job_.scenario.flows.size(); ++i) {
    const FlowSpec& spec = job_.scenario.flows[i];
    const bool is_forward = spec.direction == Direction::kForward;
    Flow flow{.job = job_,
              .index = i,
              .data_link = is_forward ? forward : reverse,
              .return_link = is_forward ? reverse : forward,
              .observer = observers[i] ? observers[i] : &null_observer_};
    if (const auto* rtp = std::get_if<RtpSpec>(&spec.kind); rtp && skipped != i) {
      flow.controller = ControllerFor(*rtp);
      const Objective objective = flow.is_under_test() ? job_.objective.value_or(kBalanced) : kBalanced;
      flow.objective = rtp->objective.value_or(objective);
    }
    Entry& entry = flows_.emplace_back(Entry{.flow = std::move(flow)});
    if (skipped != i) Start(entry, stack);
  }
}

void FlowSet::Start(Entry& entry, Stack* stack) {
  const Flow& flow = entry.flow;
  const Overloaded start{
      [&](const RtpSpec&) { entry.rtp = stack ? stack->AddRtpFlow(flow) : MakeModelEnds(flow); },
      [&](const auto& kind) { entry.other = kind.Start(flow); },
  };
  std::visit(start, flow.spec().kind);
}

void FlowSet::ProcessArrivals(SimTime until) {
  for (Entry& entry : flows_) {
    if (entry.rtp) entry.rtp->ProcessArrivals(until);
  }
}

std::string FlowSet::ControllerFor(const RtpSpec& rtp) const {
  if (rtp.controller != "under_test") {
    CheckControllerName(rtp.controller);
    return rtp.controller;
  }
  if (!job_.agent) return job_.controller;
  const bool has_agent =
      std::ranges::any_of(flows_, [](const Entry& entry) { return entry.flow.controller == kAgentName; });
  return has_agent ? "rule" : std::string(kAgentName);
}

PolicyController* FlowSet::agent() const {
  for (const Entry& entry : flows_) {
    PolicyController* const agent = entry.rtp ? entry.rtp->agent() : nullptr;
    if (agent) return agent;
  }
  return nullptr;
}

}  // namespace weir::sim
