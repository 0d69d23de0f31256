// The inputs of the controller of an RTP flow, from its scenario.
#ifndef WEIR_SIMULATOR_FLOWS_CONTROLLER_CONTEXT_H_
#define WEIR_SIMULATOR_FLOWS_CONTROLLER_CONTEXT_H_

#include <cstdint>

#include "endpoints/controllers.h"
#include "flows/stack.h"
#include "scenario/scenario.h"

namespace weir::sim {

// Offsets of a flow's random streams from random_streams::Flow(index).
inline constexpr uint64_t kMediaStream = 0;
inline constexpr uint64_t kDecisionStream = 1;

// Video is repaired, filler is not.
inline bool IsRepaired(const MediaSpec& media) { return media.kind == MediaSpec::Kind::kVideo; }

// The flow of the context; its kind is RTP.
inline const FlowSpec& FlowOf(const RtpFlowContext& flow) { return flow.job.scenario.flows[flow.index]; }
inline const RtpSpec& RtpOf(const RtpFlowContext& flow) { return std::get<RtpSpec>(FlowOf(flow).kind); }

ControllerContext MakeControllerContext(const RtpFlowContext& flow);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_CONTROLLER_CONTEXT_H_
