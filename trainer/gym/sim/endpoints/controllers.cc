#include "endpoints/controllers.h"

#include <ns3/simulator.h>

#include <string>
#include <utility>

#include "program/input_error.h"
#include "rate_controllers.h"
#include "weir/controllers/built_in_controllers.h"
#include "weir/policy/policy.h"
#include "weir/policy/policy_controller.h"

namespace weir::sim {
namespace {

std::unique_ptr<RateController> MakePolicyController(const ControllerContext& context) {
  if (context.model_path.empty())
    throw InputError("the controller weir needs a model: give --model FILE, or \"model\" in the job");
  Result<std::unique_ptr<Policy>> policy = Policy::Load(context.model);
  if (!policy) throw InputError(std::string(context.model_path) + ": " + policy.error());
  return std::make_unique<PolicyController>(std::move(policy.value()));
}

std::unique_ptr<RateController> MakeExternalController(const ControllerContext& context) {
  auto maker = context.external_controllers->Start(*context.external, context.receiver_constraints, context.objective,
                                                   context.seed);
  if (!maker) throw InputError(maker.error());
  return std::make_unique<external::ExternalController>(context.external->name, std::move(maker.value()),
                                                        [] { ns3::Simulator::Stop(); });
}

std::unique_ptr<RateController> MakeRateController(std::string_view name, const ControllerContext& context) {
  if (context.external) return MakeExternalController(context);
  if (name == "weir") return MakePolicyController(context);
  if (name == "gcc") return MakeGccController();
  if (name == "gcc-remb") return MakeGccRembController();
  if (name == "pcc") return MakePccController();
  if (name == "oracle") return std::make_unique<OracleController>(context.oracle);
  if (name == kAgentName && context.agent) return std::make_unique<AgentController>(*context.agent);
  if (auto built_in = MakeBuiltInController(name, context.fixed_rate)) return built_in;
  std::string known;
  for (const std::string_view other : kControllerNames) known.append(known.empty() ? "" : ", ").append(other);
  throw InputError("there is no controller \"" + std::string(name) + "\"; there are " + known);
}

}  // namespace

FlowController MakeFlowController(std::string_view name, const ControllerContext& context) {
  std::unique_ptr<RateController> controller = MakeRateController(name, context);
  FlowController result;
  if (controller->side() == RateController::Side::kSender) {
    result.at_sender = std::move(controller);
    return result;
  }
  result.wake_on_arrival = name == "gcc-remb";
  if (context.external) result.external = static_cast<external::ExternalController*>(controller.get());
  if (name == kAgentName) result.agent = static_cast<AgentController*>(controller.get());
  const BandwidthEstimatorConfig config{.constraints = context.receiver_constraints,
                                        .objective = context.objective,
                                        .guard = result.agent ? context.agent_guard : name == "weir"};
  result.at_receiver = std::make_unique<BandwidthEstimator>(config, std::move(controller));
  return result;
}

}  // namespace weir::sim
