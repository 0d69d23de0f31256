#include "virtual_call/call_controller.h"

#include <span>
#include <string>
#include <utility>

#include "field_trials.h"
#include "flows/controller_context.h"
#include "programs/input.h"
#include "programs/sender_gcc.h"
#include "virtual_call/stepped_controller.h"
#include "weir/names.h"
#include "weir/policy_controller.h"
#include "weir/pool_specification.h"

namespace weir::sim {

// A controller that decides at the sender of a call. All others decide at the receiver.
struct CallController::AtSender {
  std::string_view name;
  Place place;
  // Only for kLibwebrtc: the controller whose field trials select it, if not those of `name`.
  std::string_view field_trials_of = {};
  // Only for kLibwebrtc: it decides from RFC 8888 feedback.
  bool congestion_control_feedback = false;
};

// Requests decisions of the agent only after the scenario's start. Before that, while the call connects, the rate
// stays.
class CallController::StartedSource final : public DecisionSource {
 public:
  StartedSource(DecisionSource* source, const VirtualClock* clock) : source_(source), clock_(clock) {}
  std::optional<std::span<const float>> Decide(std::span<const float> observation) override {
    if (!clock_->started()) return std::nullopt;
    return source_->Decide(observation);
  }

 private:
  DecisionSource* const source_;
  const VirtualClock* const clock_;
};

CallController::CallController(const Flow& flow, VirtualClock* clock)
    : flow_(flow),
      clock_(clock),
      context_(MakeControllerContext(flow)),
      at_sender_(FindAtSender(flow, context_)),
      place_(at_sender_ ? at_sender_->place : Place::kReceiver) {
  if (flow_.controller == kAgentName) {
    agent_source_ = std::make_unique<StartedSource>(flow_.job.agent->source, clock_);
    agent_specification_ = *flow_.job.agent;
    agent_specification_->source = agent_source_.get();
    if (place_ == Place::kSender) CheckFeaturesAtSender(agent_specification_->features);
    waiting_agent_ = MakeAgent();
  } else if (place_ == Place::kLibwebrtc) {
    CheckControllerName(flow_.controller);
  } else if (!MakeArrivalController(flow_.controller, context_)) {
    throw ProgramError("the controller " + flow_.controller +
                       " needs a sender of the simulator's own: run it by weir-sim");
  }
}

CallController::~CallController() = default;

const CallController::AtSender* CallController::FindAtSender(const Flow& flow, const ControllerContext& context) {
  static constexpr AtSender kAtSender[] = {
      {.name = "gcc", .place = Place::kLibwebrtc},
      {.name = "scream", .place = Place::kLibwebrtc},
      {.name = "scream-ccfb",
       .place = Place::kLibwebrtc,
       .field_trials_of = "scream",
       .congestion_control_feedback = true},
      {.name = "weir-send", .place = Place::kSender},
      {.name = "weir-send-ccfb", .place = Place::kSender},
  };
  if (flow.controller == kAgentName) return flow.job.agent->at_sender ? FindRow(kAtSender, "weir-send") : nullptr;
  if (context.custom() || context.custom_policy()) return nullptr;
  return FindRow(kAtSender, WithoutFieldTrials(flow.controller));
}

void CallController::Select(CallEnd end, peer::Options& options) const {
  // A sender like a browser has its own GCC; a weir-peer follows REMB.
  const bool follows_remb = end == CallEnd::kReceiver || flow_.job.call.native_sender;
  options.controller = place_ == Place::kReceiver && follows_remb ? ReceiveSideMode::kWeir : ReceiveSideMode::kGcc;
  if (place_ == Place::kLibwebrtc) {
    const bool has_own_trials = at_sender_->field_trials_of.empty();
    options.field_trials =
        OrThrow(FieldTrialsOf(has_own_trials ? std::string_view(flow_.controller) : at_sender_->field_trials_of));
    if (at_sender_->congestion_control_feedback)
      options.field_trials["WebRTC-RFC8888CongestionControlFeedback"] = "Enabled,offer:true";
  }
  if (place_ == Place::kSender && end == CallEnd::kSender) options.at_sender = at_sender_->name;
  if (place_ == Place::kReceiver && end == CallEnd::kReceiver) {
    options.remb_alone = !context_.transport_cc;
    if (IsPool()) options.pool = OrThrow(SplitPool(OrThrow(ParsePool(flow_.controller))));
  }
}

ControllerFactory CallController::FactoryAt(CallEnd end) {
  if (place_ != (end == CallEnd::kSender ? Place::kSender : Place::kReceiver)) return nullptr;
  return [this]() -> std::unique_ptr<ReceiverController> {
    std::unique_ptr<ReceiverController> controller;
    clock_->Guarded([&] { controller = Make(); });
    if (controller == nullptr) return RuleAlone()();
    // A pool is not wrapped: the peer looks for its members.
    if (IsPool()) return controller;
    return std::make_unique<SteppedController>(std::move(controller), clock_);
  };
}

bool CallController::IsPool() const { return !context_.custom() && IsPoolLine(flow_.controller); }

std::unique_ptr<ReceiverController> CallController::Make() {
  if (!is_agent()) return MakeArrivalController(flow_.controller, context_);
  return waiting_agent_ ? std::move(waiting_agent_) : MakeAgent();
}

std::unique_ptr<PolicyController> CallController::MakeAgent() {
  auto agent = MakeAgentController(*agent_specification_, context_.decision_delay);
  agent_ = agent.get();
  return agent;
}

}  // namespace weir::sim
