#include "endpoints/controllers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "endpoints/controller_table.h"
#include "field_trials.h"
#include "programs/custom_controllers.h"
#include "programs/input.h"
#include "programs/sender_gcc.h"
#include "rate_controllers.h"
#include "weir/controllers.h"
#include "weir/names.h"
#include "weir/policy_controller.h"
#include "weir/pool_controller.h"

namespace weir::sim {
namespace {

using AtReceiver = std::unique_ptr<ReceiverController>;

std::unique_ptr<BandwidthEstimator> AtReceiverOf(const BandwidthEstimatorConfig& config,
                                                 std::unique_ptr<ReceiverController> controller) {
  return std::make_unique<BandwidthEstimator>(OrThrow(BandwidthEstimator::Create(config, std::move(controller))));
}

std::unique_ptr<ReceiverController> MakeCustomController(const ControllerContext& context) {
  const CustomControllerSpecification& specification = *context.custom();
  return std::make_unique<SimulatedCustomController>(
      specification.name, OrThrow(context.job.custom_controllers->Start(specification, context.receiver_constraints,
                                                                        context.objective, context.job.seed)));
}

// Makes a member of a pool: any receiver controller, or weir:FILE.
Result<AtReceiver> MakeMember(const std::string& member, const ControllerContext& context) {
  try {
    if (const SimulatedController* const row = FindRow(SimulatedControllers(), member)) {
      if (!row->at_receiver) return Error{"decides at the sender, and a pool runs at the receiver"};
      return row->at_receiver(context);
    }
    if (IsModelName(member)) {
      const std::string bytes = ReadInputFile(member.substr(member.find(':') + 1), "model");
      return MakePolicy(context, OrThrow(PolicyModel::Load(std::as_bytes(std::span(bytes)))));
    }
    return MakeController(member, nullptr, context.fixed_rate);
  } catch (const ProgramError& error) {
    return Error{error.what()};
  }
}

PoolAtBothEnds ReadPool(std::string_view line) { return OrThrow(SplitPool(OrThrow(ParsePool(line)))); }

// Null if REMB alone determines the sender's rate.
std::unique_ptr<SenderController> SenderOfReceiver(const ControllerContext& context) {
  return context.transport_cc ? MakeGccOfReceiver() : nullptr;
}

// Null for all that is not in the table: the agent, custom controllers and policies.
const SimulatedController* RowOf(std::string_view name, const ControllerContext& context) {
  const bool is_custom = context.custom() || context.custom_policy();
  return is_custom ? nullptr : FindRow(SimulatedControllers(), WithoutFieldTrials(name));
}

std::unique_ptr<PoolController> MakePool(const PoolSpecification& specification, const ControllerContext& context) {
  return OrThrow(PoolController::Create(specification,
                                        [&context](const std::string& member) { return MakeMember(member, context); }));
}

FlowController MakePoolController(std::string_view line, const ControllerContext& context) {
  const PoolAtBothEnds ends = ReadPool(line);
  auto pool = MakePool(ends.at_receiver, context);
  const auto members = pool->members();
  const BandwidthEstimatorConfig config{.constraints = context.receiver_constraints,
                                        .objective = context.objective,
                                        .guard = IsGuarded(line, context),
                                        .guard_rules = context.job.guard_rules};
  FlowController result;
  result.wake_on_arrival = std::ranges::any_of(members, [](const MemberState& member) {
    const SimulatedController* const row = FindRow(SimulatedControllers(), member.name);
    return row && row->wake_on_arrival;
  });
  result.at_receiver = AtReceiverOf(config, std::move(pool));
  result.at_sender = ends.sender_has_gcc ? MakeGccController() : SenderOfReceiver(context);
  result.playout = kReceiversPlayout;
  return result;
}

AtReceiver MakeReceiverController(std::string_view name, const SimulatedController* row,
                                  const ControllerContext& context) {
  if (context.custom()) return MakeCustomController(context);
  if (const CustomPolicy* policy = context.custom_policy()) return MakePolicy(context, policy->model->Load());
  if (name == kAgentName && context.job.agent) return MakeAgentController(*context.job.agent, context.decision_delay);
  CheckControllerName(name);
  return row->at_receiver(context);
}

}  // namespace

void CheckControllerName(std::string_view name) {
  if (IsPoolLine(name)) {
    ReadPool(name);
    return;
  }
  const std::string_view plain = WithoutFieldTrials(name);
  const SimulatedController* const row = FindRow(SimulatedControllers(), plain);
  if (!row) {
    throw ProgramError("there is no controller \"" + std::string(plain) + "\"; there are " +
                       ListNames(SimulatedControllers()) +
                       "; or a pool such as \"pilot=weir copilots=nada fusion=min\"");
  }
  if (plain != name) OrThrow(FieldTrialsOf(name));
  if (!IsAvailable(*row)) {
    throw ProgramError("the controller " + std::string(plain) + " is of libwebrtc M" +
                           std::to_string(row->libwebrtc_milestone) + ", and this weir-sim has M" +
                           std::to_string(LibwebrtcMilestone()) + "; run `make webrtc`",
                       kMissingComponent);
  }
}

bool TakesTransportCc(std::string_view name) {
  const SimulatedController* const row = FindRow(SimulatedControllers(), WithoutFieldTrials(name));
  return !row || row->transport_cc;
}

std::unique_ptr<ReceiverController> MakeArrivalController(std::string_view name, const ControllerContext& context) {
  if (!context.custom() && IsPoolLine(name)) return MakePool(ReadPool(name).at_receiver, context);
  const SimulatedController* const row = RowOf(name, context);
  if (!row || row->at_receiver) return MakeReceiverController(name, row, context);
  CheckControllerName(name);
  return row->from_feedback ? row->from_feedback(context) : nullptr;
}

void CheckFeaturesAtSender(const FeatureSpecification& features) {
  if (const auto error = CheckFeatures(features, kSentPacketFeatures, "at the sender"))
    throw ProgramError(error->message);
}

bool IsGuarded(std::string_view name, const ControllerContext& context) {
  if (name == kAgentName) return context.job.agent_guard;
  if (context.custom()) return false;
  if (context.custom_policy()) return context.custom_policy()->guard;
  if (IsPoolLine(name)) {
    const PoolSpecification pool = ReadPool(name).at_receiver;
    return IsModelName(pool.pilot) || std::ranges::any_of(pool.copilots, IsModelName);
  }
  const SimulatedController* const row = RowOf(name, context);
  return row && row->guard;
}

FlowController MakeFlowController(std::string_view name, const ControllerContext& context) {
  if (!context.custom() && IsPoolLine(name)) return MakePoolController(name, context);
  const SimulatedController* const row = RowOf(name, context);
  FlowController result;
  if (row && row->at_sender) {
    CheckControllerName(name);
    const auto trials = FieldTrialsOf(name);
    result.at_sender = row->at_sender(context, trials ? trials.value() : FieldTrials());
    result.congestion_control_feedback = row->congestion_control_feedback;
    result.reports_loss = row->reports_loss;
    if (row->limits_playout) result.playout = kSendersPlayout;
    return result;
  }
  AtReceiver controller = MakeReceiverController(name, row, context);
  if (name == kAgentName) result.agent = static_cast<PolicyController*>(controller.get());
  if (result.agent && context.job.agent->at_sender) {
    CheckFeaturesAtSender(context.job.agent->features);
    result.at_sender =
        MakeWeirAtSender(context, context.job.agent_guard, GuardOptions::ForTraining(), std::move(controller));
    result.playout = kSendersPlayout;
    return result;
  }
  result.wake_on_arrival = row && row->wake_on_arrival;
  const BandwidthEstimatorConfig config{
      .constraints = context.receiver_constraints,
      .objective = context.objective,
      .guard = IsGuarded(name, context),
      .guard_rules = result.agent ? GuardOptions::ForTraining() : context.job.guard_rules};
  result.at_receiver = AtReceiverOf(config, std::move(controller));
  result.at_sender = SenderOfReceiver(context);
  result.playout = kReceiversPlayout;
  return result;
}

}  // namespace weir::sim
