#include "endpoints/controllers.h"

#include <ns3/simulator.h>

#include <algorithm>
#include <string>
#include <utility>

#include "program/input_error.h"
#include "rate_controllers.h"
#include "weir/controllers/built_in_controllers.h"
#include "weir/policy/policy.h"
#include "weir/policy/policy_controller.h"
#include "weir/registry/names.h"

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

using Made = std::unique_ptr<RateController>;

struct Factory {
  std::string_view name;
  Made (*make)(const ControllerContext& context);
  // It may have something to say after any packet.
  bool wake_on_arrival = false;
  // With the guard's floor, slew and stale rules.
  bool guard = false;
};

// What the library does not make by itself.
constexpr Factory kFactories[] = {
    {.name = "weir", .make = &MakePolicyController, .guard = true},
    {.name = "gcc", .make = [](const ControllerContext&) -> Made { return MakeGccController(); }},
    {.name = "gcc-remb",
     .make = [](const ControllerContext&) -> Made { return MakeGccRembController(); },
     .wake_on_arrival = true},
    {.name = "pcc", .make = [](const ControllerContext&) -> Made { return MakePccController(); }},
    {.name = "oracle",
     .make = [](const ControllerContext& context) -> Made {
       return std::make_unique<OracleController>(context.oracle);
     }},
};
constexpr auto kNotBuiltIn =
    ControllersThat<[](const RegisteredController& one) { return one.simulated && !one.built_in; }>();
static_assert(HaveSameNames(kFactories, kNotBuiltIn),
              "each controller that is simulated needs its factory here, or to be built_in");

Made MakeRateController(std::string_view name, const Factory* factory, const ControllerContext& context) {
  if (context.external) return MakeExternalController(context);
  if (name == kAgentName && context.agent) return std::make_unique<AgentController>(*context.agent);
  CheckControllerName(name);
  return factory ? factory->make(context) : MakeBuiltInController(name, context.fixed_rate);
}

}  // namespace

void CheckControllerName(std::string_view name) {
  if (std::ranges::find(kSimulatedControllers, name) != kSimulatedControllers.end()) return;
  throw InputError("there is no controller \"" + std::string(name) + "\"; there are " +
                   ListNames(kSimulatedControllers));
}

FlowController MakeFlowController(std::string_view name, const ControllerContext& context) {
  const Factory* const factory = context.external ? nullptr : FindRow(kFactories, name);
  std::unique_ptr<RateController> controller = MakeRateController(name, factory, context);
  FlowController result;
  if (controller->side() == RateController::Side::kSender) {
    result.at_sender = std::move(controller);
    return result;
  }
  result.wake_on_arrival = factory && factory->wake_on_arrival;
  if (context.external) result.external = static_cast<external::ExternalController*>(controller.get());
  if (name == kAgentName) result.agent = static_cast<AgentController*>(controller.get());
  const BandwidthEstimatorConfig config{.constraints = context.receiver_constraints,
                                        .objective = context.objective,
                                        .guard = result.agent ? context.agent_guard : factory && factory->guard,
                                        .guard_floor = result.agent == nullptr};
  result.at_receiver = std::make_unique<BandwidthEstimator>(config, std::move(controller));
  return result;
}

}  // namespace weir::sim
