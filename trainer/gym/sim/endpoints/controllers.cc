#include "endpoints/controllers.h"

#include <ns3/simulator.h>

#include <algorithm>
#include <string>
#include <utility>

#include "endpoints/weir_send_controller.h"
#include "program/input.h"
#include "program/sender_gcc.h"
#include "rate_controllers.h"
#include "weir/controllers/built_in_controllers.h"
#include "weir/pool/controller_pool.h"
#include "weir/pool/library_members.h"
#include "weir/registry/names.h"

namespace weir::sim {
namespace {

std::unique_ptr<RateController> MakePolicyController(ModelFile& model) {
  return std::move(MakeModelMember("weir", model.Load()).value());
}

std::unique_ptr<RateController> AtSender(const ControllerContext& context, bool guard, const GuardOptions& guard_rules,
                                         std::unique_ptr<RateController> pilot) {
  const SendSideEstimatorConfig config{.estimator = {.constraints = context.sender_constraints,
                                                     .objective = context.objective,
                                                     .guard = guard,
                                                     .guard_rules = guard_rules}};
  return std::make_unique<WeirSendController>(config, std::move(pilot));
}

std::unique_ptr<RateController> MakeWeirController(const ControllerContext& context) {
  if (context.model == nullptr)
    throw InputError("the controllers weir and weir-send need a model: give --model FILE, or \"model\" in the job");
  return MakePolicyController(*context.model);
}

std::unique_ptr<RateController> MakeWeirSendController(const ControllerContext& context) {
  return AtSender(context, true, context.guard_rules, MakeWeirController(context));
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
  // With the guard's rules.
  bool guard = false;
};

// What the library does not make by itself.
constexpr Factory kFactories[] = {
    {.name = "weir", .make = &MakeWeirController, .guard = true},
    {.name = "gcc", .make = [](const ControllerContext&) -> Made { return MakeGccController(); }},
    {.name = "gcc-remb",
     .make = [](const ControllerContext&) -> Made { return MakeGccRembController(); },
     .wake_on_arrival = true},
    {.name = "pcc", .make = [](const ControllerContext&) -> Made { return MakePccController(); }},
    {.name = "weir-send", .make = &MakeWeirSendController},
    {.name = "oracle",
     .make = [](const ControllerContext& context) -> Made {
       return std::make_unique<OracleController>(context.oracle);
     }},
};
constexpr auto kNotBuiltIn =
    ControllersThat<[](const RegisteredController& one) { return one.simulated && !one.built_in; }>();
static_assert(HaveSameNames(kFactories, kNotBuiltIn),
              "each controller that is simulated needs its factory here, or to be built_in");

// A member of a pool: any controller of the receiver's side, and weir:FILE.
Result<Made> MakeMember(const std::string& member, const ControllerContext& context) {
  try {
    if (const Factory* factory = FindRow(kFactories, member)) return factory->make(context);
    const auto load_model = [](const std::string& path) {
      const std::string model = ReadInputFile(path, "model");
      return PolicyModel::Load(std::as_bytes(std::span(model)));
    };
    return MakeLibraryMember(member, load_model, context.fixed_rate);
  } catch (const InputError& error) {
    return Error{error.what()};
  }
}

PoolAtBothEnds ReadPool(std::string_view line) {
  const auto pool = ParsePool(line);
  if (!pool) throw InputError(pool.error());
  auto ends = SplitPool(pool.value());
  if (!ends) throw InputError(ends.error());
  return std::move(ends.value());
}

FlowController MakePoolController(std::string_view line, const ControllerContext& context) {
  const PoolAtBothEnds ends = ReadPool(line);
  const PoolSpecification& specification = ends.at_receiver;
  auto pool = ControllerPool::Create(specification,
                                     [&context](const std::string& member) { return MakeMember(member, context); });
  if (!pool) throw InputError(pool.error());
  const auto members = pool.value().members();
  const BandwidthEstimatorConfig config{.constraints = context.receiver_constraints,
                                        .objective = context.objective,
                                        .guard = std::ranges::any_of(members, IsModelMember, &MemberState::name),
                                        .guard_rules = context.guard_rules};
  FlowController result;
  result.wake_on_arrival = std::ranges::any_of(members, [](const MemberState& member) {
    const Factory* const factory = FindRow(kFactories, member.name);
    return factory && factory->wake_on_arrival;
  });
  result.at_receiver = std::make_unique<BandwidthEstimator>(config, std::move(pool.value()));
  if (ends.sender_has_gcc) result.at_sender = MakeGccController();
  return result;
}

Made MakeRateController(std::string_view name, const Factory* factory, const ControllerContext& context) {
  if (context.external) return MakeExternalController(context);
  if (const OwnPolicy* own = context.own_policy) return MakePolicyController(*own->model);
  if (name == kAgentName && context.agent) return std::make_unique<AgentController>(*context.agent);
  CheckControllerName(name);
  return factory ? factory->make(context) : MakeBuiltInController(name, context.fixed_rate);
}

}  // namespace

void CheckControllerName(std::string_view name) {
  if (IsPoolLine(name)) {
    ReadPool(name);
    return;
  }
  if (std::ranges::find(kSimulatedControllers, name) != kSimulatedControllers.end()) return;
  throw InputError("there is no controller \"" + std::string(name) + "\"; there are " +
                   ListNames(kSimulatedControllers) + "; or a pool such as \"pilot=weir copilots=nada fusion=min\"");
}

FlowController MakeFlowController(std::string_view name, const ControllerContext& context) {
  if (!context.external && IsPoolLine(name)) return MakePoolController(name, context);
  const bool is_own = context.external || context.own_policy;
  const Factory* const factory = is_own ? nullptr : FindRow(kFactories, name);
  std::unique_ptr<RateController> controller = MakeRateController(name, factory, context);
  FlowController result;
  if (name == kAgentName) result.agent = static_cast<AgentController*>(controller.get());
  if (result.agent && context.agent->side == RateController::Side::kSender) {
    controller = AtSender(context, context.agent_guard, GuardOptions::ForTraining(), std::move(controller));
  }
  if (controller->side() == RateController::Side::kSender) {
    result.at_sender = std::move(controller);
    return result;
  }
  result.wake_on_arrival = factory && factory->wake_on_arrival;
  if (context.external) result.external = static_cast<external::ExternalController*>(controller.get());
  const bool guard = result.agent         ? context.agent_guard
                     : context.own_policy ? context.own_policy->guard
                                          : factory && factory->guard;
  const BandwidthEstimatorConfig config{
      .constraints = context.receiver_constraints,
      .objective = context.objective,
      .guard = guard,
      .guard_rules = result.agent ? GuardOptions::ForTraining() : context.guard_rules};
  result.at_receiver = std::make_unique<BandwidthEstimator>(config, std::move(controller));
  return result;
}

}  // namespace weir::sim
