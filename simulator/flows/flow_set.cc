#include "flows/flow_set.h"

#include <utility>
#include <variant>

#include "core/random.h"
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
    : job_(job), forward_(forward), reverse_(reverse), stack_(stack), flows_(job.scenario.flows.size()) {
  for (size_t i = 0; i < flows_.size(); ++i) {
    if (skipped == i) continue;
    const FlowSpec& spec = job_.scenario.flows[i];
    const bool is_forward = spec.direction == Direction::kForward;
    const FlowContext context{.flow = spec,
                              .data_link = is_forward ? forward_ : reverse_,
                              .return_link = is_forward ? reverse_ : forward_,
                              .observer = observers[i],
                              .seed = job_.random_seed(),
                              .stream = random_streams::Flow(i)};
    const Overloaded start{
        [&](const RtpSpec&) { AddRtpFlow(i, observers[i] ? observers[i] : &null_observer_); },
        [&](const auto& kind) { flows_[i].other = kind.Start(context); },
    };
    std::visit(start, spec.kind);
  }
}

void FlowSet::ProcessArrivals(int64_t until_ns) {
  for (Flow& flow : flows_) {
    if (flow.rtp) flow.rtp->ProcessArrivals(until_ns);
  }
}

std::string FlowSet::ControllerFor(const RtpSpec& rtp, size_t index) const {
  if (rtp.controller != "under_test") {
    CheckControllerName(rtp.controller);
    return rtp.controller;
  }
  if (!job_.agent) return job_.controller;
  for (size_t i = 0; i < index; ++i) {
    if (flows_[i].controller == kAgentName) return "rule";
  }
  return std::string(kAgentName);
}

void FlowSet::AddRtpFlow(size_t index, FlowObserver* observer) {
  const FlowSpec& spec = job_.scenario.flows[index];
  const auto& rtp = std::get<RtpSpec>(spec.kind);
  const bool is_forward = spec.direction == Direction::kForward;
  Flow& flow = flows_[index];
  flow.controller = ControllerFor(rtp, index);
  const bool under_test = rtp.controller == "under_test";
  flow.objective = rtp.objective.value_or(under_test ? job_.objective.value_or(kBalanced) : kBalanced);
  flow.rtp = stack_->AddRtpFlow({.job = job_,
                                 .index = index,
                                 .controller = flow.controller,
                                 .objective = flow.objective,
                                 .media_link = is_forward ? forward_ : reverse_,
                                 .rtcp_link = is_forward ? reverse_ : forward_,
                                 .observer = observer});
}

PolicyController* FlowSet::agent() const {
  for (const Flow& flow : flows_) {
    PolicyController* const agent = flow.rtp ? flow.rtp->agent() : nullptr;
    if (agent) return agent;
  }
  return nullptr;
}

}  // namespace weir::sim
