#include "endpoints/controller_table.h"

#include <utility>

#include "endpoints/mocc_controller.h"
#include "endpoints/ndtc_controller.h"
#include "programs/input.h"
#include "rate_controllers.h"
#include "weir/policy_executor.h"
#include "weir/send_side_estimator.h"

namespace weir::sim {
namespace {

using AtReceiver = std::unique_ptr<ReceiverController>;
using AtSender = std::unique_ptr<SenderController>;

std::shared_ptr<const PolicyModel> ModelOf(const ControllerContext& context) {
  if (context.job.model) return context.job.model->Load();
  throw ProgramError(
      "the controllers weir, weir-send and mocc need a model: give --model FILE, or \"model\" in the job");
}

AtReceiver MakeWeir(const ControllerContext& context) { return MakePolicy(context, ModelOf(context)); }

AtReceiver MakeWeirFromFeedback(const ControllerContext& context) {
  CheckFeaturesAtSender(DescriptionOf(*ModelOf(context)).features);
  return MakeWeir(context);
}

AtSender MakeWeirSend(const ControllerContext& context, const FieldTrials&) {
  return MakeWeirAtSender(context, true, context.job.guard_rules, MakeWeirFromFeedback(context));
}

// MOCC's interface has a guard of its own.
AtSender MakeMocc(const ControllerContext& context, const FieldTrials&) {
  if (context.decision_delay) throw ProgramError("mocc decides at once: give no decision delay");
  MoccSender sender = OrThrow(
      MoccSender::Create(ModelOf(context), context.objective, context.sender_constraints, context.job.guard_rules));
  return MakeWeirAtSender(context, false, {}, MakeMoccController(std::move(sender)));
}

AtReceiver MakeGccRemb(const ControllerContext& context) {
  // At higher rates, packets paced at 2.5 times the rate are so close that the rate of a probe exceeds 31 bits.
  constexpr DataRate kMost = DataRate::KilobitsPerSecond(500'000);
  if (context.receiver_constraints.max_rate > kMost)
    throw ProgramError(
        "gcc-remb takes media of at most 500 Mbps: libwebrtc counts its rates in 31 bits, and aborts above");
  return MakeGccRembController();
}

constexpr SimulatedController kControllers[] = {
    {.name = "weir",
     .summary = "a learned policy at the receiver, behind the guard",
     .at_receiver = &MakeWeir,
     .guard = true},
    {.name = "gcc",
     .summary = "Google congestion control at the sender, libwebrtc's",
     .at_sender = [](const ControllerContext&, const FieldTrials& trials) { return MakeGccController(trials); }},
    {.name = "scream",
     .summary = "SCReAM v2 at the sender, libwebrtc's",
     .at_sender = [](const ControllerContext&, const FieldTrials& trials) { return MakeScreamController(trials); },
     .reports_loss = false,
     .libwebrtc_milestone = 150},
    {.name = "scream-ccfb",
     .summary = "scream, from RFC 8888 feedback",
     .at_sender = [](const ControllerContext&, const FieldTrials&) { return MakeScreamController(); },
     .congestion_control_feedback = true,
     .reports_loss = false,
     .libwebrtc_milestone = 150},
    {.name = "gcc-remb",
     .summary = "Google congestion control at the receiver, libwebrtc's",
     .at_receiver = &MakeGccRemb,
     .wake_on_arrival = true,
     .transport_cc = false},
    {.name = "pcc",
     .summary = "PCC Vivace, libwebrtc's",
     .at_sender = [](const ControllerContext&, const FieldTrials&) { return MakePccController(); },
     .reports_loss = false},
    {.name = "nada",
     .summary = "NADA, RFC 8698",
     .at_receiver = [](const ControllerContext& context) { return MakeBuiltInController("nada", context.fixed_rate); }},
    {.name = "rule",
     .summary = "ten lines without learning",
     .at_receiver = [](const ControllerContext& context) { return MakeBuiltInController("rule", context.fixed_rate); }},
    {.name = "fixed",
     .summary = "a constant rate",
     .at_receiver =
         [](const ControllerContext& context) { return MakeBuiltInController("fixed", context.fixed_rate); }},
    {.name = "oracle",
     .summary = "follows the true capacity of the path",
     .at_sender =
         [](const ControllerContext& context, const FieldTrials&) {
           return MakeOracleController(context.oracle, context.objective, /*foresight=*/true);
         },
     .reports_loss = false,
     .knows_path = true},
    {.name = "weir-send",
     .summary = "weir at the sender, from transport feedback",
     .at_sender = &MakeWeirSend,
     .from_feedback = &MakeWeirFromFeedback,
     .limits_playout = true},
    {.name = "weir-send-ccfb",
     .summary = "weir-send, from RFC 8888 feedback",
     .at_sender = &MakeWeirSend,
     .from_feedback = &MakeWeirFromFeedback,
     .limits_playout = true,
     .congestion_control_feedback = true},
    {.name = "ndtc",
     .summary = "draft-ageneau-ccwg-ndtc-01 at the receiver",
     .at_receiver = [](const ControllerContext&) { return MakeNdtcController(); }},
    {.name = "oracle-present",
     .summary = "follows the capacity of the last 50 ms, without foresight",
     .at_sender =
         [](const ControllerContext& context, const FieldTrials&) {
           return MakeOracleController(context.oracle, context.objective, /*foresight=*/false);
         },
     .reports_loss = false,
     .knows_path = true},
    {.name = "oracle-receiver",
     .summary = "oracle-present, at the receiver",
     .at_receiver = [](const ControllerContext& context) { return MakeOracleAtReceiver(context.oracle); },
     .knows_path = true},
    {.name = "mocc",
     .summary = "weir-send behind MOCC's interface: statistics of intervals",
     .at_sender = &MakeMocc,
     .limits_playout = true},
};

}  // namespace

std::span<const SimulatedController> SimulatedControllers() { return kControllers; }

bool IsAvailable(const SimulatedController& controller) {
  return controller.libwebrtc_milestone <= LibwebrtcMilestone();
}

AtReceiver MakePolicy(const ControllerContext& context, std::shared_ptr<const PolicyModel> model) {
  return MakePolicyController(std::move(model), MakeDelayedInline(context.decision_delay));
}

AtSender MakeWeirAtSender(const ControllerContext& context, bool guard, const GuardOptions& guard_rules,
                          AtReceiver controller) {
  const SendSideEstimatorConfig config{.estimator = {.constraints = context.sender_constraints,
                                                     .objective = context.objective,
                                                     .guard = guard,
                                                     .guard_rules = guard_rules}};
  return MakeWeirSendController(OrThrow(SendSideEstimator::Create(config, std::move(controller))));
}

}  // namespace weir::sim
