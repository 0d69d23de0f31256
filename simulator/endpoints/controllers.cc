#include "endpoints/controllers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "controllers/field_trials.h"
#include "endpoints/ndtc_controller.h"
#include "policy/policy_controller.h"
#include "pool/pool_controller.h"
#include "programs/custom_controllers.h"
#include "programs/input.h"
#include "programs/sender_gcc.h"
#include "rate_controllers.h"
#include "registry.h"
#include "weir/controllers.h"

namespace weir::sim {
namespace {

std::unique_ptr<BandwidthEstimator> AtReceiverOf(const BandwidthEstimatorConfig& config,
                                                 std::unique_ptr<ReceiverController> controller) {
  return std::make_unique<BandwidthEstimator>(OrThrow(BandwidthEstimator::Create(config, std::move(controller))));
}

std::unique_ptr<SenderController> AtSender(const ControllerContext& context, bool guard,
                                           const GuardOptions& guard_rules,
                                           std::unique_ptr<ReceiverController> controller) {
  const SendSideEstimatorConfig config{.estimator = {.constraints = context.sender_constraints,
                                                     .objective = context.objective,
                                                     .guard = guard,
                                                     .guard_rules = guard_rules}};
  return MakeWeirSendController(OrThrow(SendSideEstimator::Create(config, std::move(controller))));
}

std::unique_ptr<ReceiverController> MakePolicy(const ControllerContext& context,
                                               std::shared_ptr<const PolicyModel> model) {
  return MakePolicyController(std::move(model), MakeDelayedInline(context.decision_delay));
}

std::unique_ptr<ReceiverController> MakeWeirController(const ControllerContext& context) {
  if (!context.job.model)
    throw ProgramError("the controllers weir and weir-send need a model: give --model FILE, or \"model\" in the job");
  return MakePolicy(context, context.job.model->Load());
}

std::unique_ptr<SenderController> MakeWeirAtSender(const ControllerContext& context, const FieldTrials&) {
  return AtSender(context, true, context.job.guard_rules, MakeWeirController(context));
}

std::unique_ptr<ReceiverController> MakeCustomController(const ControllerContext& context) {
  const CustomControllerSpecification& specification = *context.custom();
  return std::make_unique<SimulatedCustomController>(
      specification.name, OrThrow(context.job.custom_controllers->Start(specification, context.receiver_constraints,
                                                                        context.objective, context.job.seed)));
}

using AtReceiver = std::unique_ptr<ReceiverController>;

AtReceiver MakeGccRemb(const ControllerContext& context) {
  // At higher rates, packets paced at 2.5 times the rate are so close that the rate of a probe exceeds 31 bits.
  constexpr DataRate kMost = DataRate::KilobitsPerSecond(500'000);
  if (context.receiver_constraints.max_rate > kMost)
    throw ProgramError(
        "gcc-remb takes media of at most 500 Mbps: libwebrtc counts its rates in 31 bits, and aborts above");
  return MakeGccRembController();
}

struct Factory {
  std::string_view name;
  // Exactly one of `at_receiver` and `at_sender` is set.
  AtReceiver (*at_receiver)(const ControllerContext& context) = nullptr;
  std::unique_ptr<SenderController> (*at_sender)(const ControllerContext& context, const FieldTrials& trials) = nullptr;
  // The controller may have a new target after any packet.
  bool wake_on_arrival = false;
  // The controller runs with the guard's rules.
  bool guard = false;
  // Makes the controller that decides in a SendSideEstimator `at_sender`.
  AtReceiver (*from_feedback)(const ControllerContext& context) = nullptr;
  // The controller decides from RFC 8888 feedback.
  bool congestion_control_feedback = false;
  // See FlowController.
  bool reports_loss = true;
  // See TakesTransportCc().
  bool transport_cc = true;
};

// The controllers that the library cannot make itself.
constexpr Factory kFactories[] = {
    {.name = "weir", .at_receiver = &MakeWeirController, .guard = true},
    {.name = "gcc",
     .at_sender = [](const ControllerContext&, const FieldTrials& trials) { return MakeGccController(trials); }},
    {.name = "scream",
     .at_sender = [](const ControllerContext&, const FieldTrials& trials) { return MakeScreamController(trials); },
     .reports_loss = false},
    {.name = "scream-ccfb",
     .at_sender = [](const ControllerContext&, const FieldTrials&) { return MakeScreamController(); },
     .congestion_control_feedback = true,
     .reports_loss = false},
    {.name = "gcc-remb", .at_receiver = &MakeGccRemb, .wake_on_arrival = true, .transport_cc = false},
    {.name = "pcc",
     .at_sender = [](const ControllerContext&, const FieldTrials&) { return MakePccController(); },
     .reports_loss = false},
    {.name = "ndtc", .at_receiver = [](const ControllerContext&) { return MakeNdtcController(); }},
    {.name = "weir-send", .at_sender = &MakeWeirAtSender, .from_feedback = &MakeWeirController},
    {.name = "weir-send-ccfb",
     .at_sender = &MakeWeirAtSender,
     .from_feedback = &MakeWeirController,
     .congestion_control_feedback = true},
    {.name = "oracle",
     .at_sender = [](const ControllerContext& context,
                     const FieldTrials&) { return MakeOracleController(context.oracle, /*foresight=*/true); },
     .reports_loss = false},
    {.name = "oracle-present",
     .at_sender = [](const ControllerContext& context,
                     const FieldTrials&) { return MakeOracleController(context.oracle, /*foresight=*/false); },
     .reports_loss = false},
    {.name = "oracle-receiver",
     .at_receiver = [](const ControllerContext& context) { return MakeOracleAtReceiver(context.oracle); }},
};
constexpr auto kNotBuiltIn =
    ControllersThat<[](const RegisteredController& one) { return one.simulated && !one.built_in; }>();
static_assert(HaveSameNames(kFactories, kNotBuiltIn),
              "each controller that is simulated needs its factory here, or to be built_in");

// Makes a member of a pool: any receiver controller, or weir:FILE.
Result<AtReceiver> MakeMember(const std::string& member, const ControllerContext& context) {
  try {
    if (const Factory* factory = FindRow(kFactories, member)) {
      if (!factory->at_receiver) return Error{"decides at the sender, and a pool runs at the receiver"};
      return factory->at_receiver(context);
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

// Null for all that is not in the table: the agent, built-in controllers, custom controllers and policies.
const Factory* FactoryOf(std::string_view name, const ControllerContext& context) {
  const bool is_custom = context.custom() || context.custom_policy();
  return is_custom ? nullptr : FindRow(kFactories, WithoutFieldTrials(name));
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
    const Factory* const factory = FindRow(kFactories, member.name);
    return factory && factory->wake_on_arrival;
  });
  result.at_receiver = AtReceiverOf(config, std::move(pool));
  result.at_sender = ends.sender_has_gcc ? MakeGccController() : SenderOfReceiver(context);
  return result;
}

AtReceiver MakeReceiverController(std::string_view name, const Factory* factory, const ControllerContext& context) {
  if (context.custom()) return MakeCustomController(context);
  if (const CustomPolicy* policy = context.custom_policy()) return MakePolicy(context, policy->model->Load());
  if (name == kAgentName && context.job.agent) return MakeAgentController(*context.job.agent, context.decision_delay);
  CheckControllerName(name);
  return factory ? factory->at_receiver(context) : MakeBuiltInController(name, context.fixed_rate);
}

}  // namespace

void CheckControllerName(std::string_view name) {
  if (IsPoolLine(name)) {
    ReadPool(name);
    return;
  }
  const std::string_view plain = WithoutFieldTrials(name);
  const RegisteredController* const row = FindRow(kControllers, plain);
  if (!row || !row->simulated) {
    throw ProgramError("there is no controller \"" + std::string(plain) + "\"; there are " +
                       ListNames(kSimulatedControllers) +
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
  const Factory* const factory = FindRow(kFactories, WithoutFieldTrials(name));
  return !factory || factory->transport_cc;
}

bool IsAvailable(const RegisteredController& controller) {
  return controller.libwebrtc_milestone <= LibwebrtcMilestone();
}

std::unique_ptr<ReceiverController> MakeArrivalController(std::string_view name, const ControllerContext& context) {
  if (!context.custom() && IsPoolLine(name)) return MakePool(ReadPool(name).at_receiver, context);
  const Factory* const factory = FactoryOf(name, context);
  if (!factory || factory->at_receiver) return MakeReceiverController(name, factory, context);
  CheckControllerName(name);
  return factory->from_feedback ? factory->from_feedback(context) : nullptr;
}

bool IsGuarded(std::string_view name, const ControllerContext& context) {
  if (name == kAgentName) return context.job.agent_guard;
  if (context.custom()) return false;
  if (context.custom_policy()) return context.custom_policy()->guard;
  if (IsPoolLine(name)) {
    const PoolSpecification pool = ReadPool(name).at_receiver;
    return IsModelName(pool.pilot) || std::ranges::any_of(pool.copilots, IsModelName);
  }
  const Factory* const factory = FactoryOf(name, context);
  return factory && factory->guard;
}

FlowController MakeFlowController(std::string_view name, const ControllerContext& context) {
  if (!context.custom() && IsPoolLine(name)) return MakePoolController(name, context);
  const Factory* const factory = FactoryOf(name, context);
  FlowController result;
  if (factory && factory->at_sender) {
    CheckControllerName(name);
    const auto trials = FieldTrialsOf(name);
    result.at_sender = factory->at_sender(context, trials ? trials.value() : FieldTrials());
    result.congestion_control_feedback = factory->congestion_control_feedback;
    result.reports_loss = factory->reports_loss;
    return result;
  }
  AtReceiver controller = MakeReceiverController(name, factory, context);
  if (name == kAgentName) result.agent = static_cast<PolicyController*>(controller.get());
  if (result.agent && context.job.agent->at_sender) {
    result.at_sender = AtSender(context, context.job.agent_guard, GuardOptions::ForTraining(), std::move(controller));
    return result;
  }
  result.wake_on_arrival = factory && factory->wake_on_arrival;
  const BandwidthEstimatorConfig config{
      .constraints = context.receiver_constraints,
      .objective = context.objective,
      .guard = IsGuarded(name, context),
      .guard_rules = result.agent ? GuardOptions::ForTraining() : context.job.guard_rules};
  result.at_receiver = AtReceiverOf(config, std::move(controller));
  result.at_sender = SenderOfReceiver(context);
  return result;
}

}  // namespace weir::sim
