// Controllers in the C interface.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "c/c_api.h"
#include "controllers/inline_custom_controller.h"
#include "registry.h"
#include "weir/names.h"
#include "weir/pool_controller.h"

using weir::DataRate;
using weir::Error;
using weir::internal::Create;
using weir::internal::Fail;
using weir::internal::FailArgument;

namespace {

using Made = weir_controller::Made;

Made MakeBuiltIn(const std::string& name, DataRate start_rate) {
  if (auto made = weir::MakeBuiltInController(name, start_rate)) return made;
  return Error{"there is no controller '" + name.substr(0, 64) + "'; there are " +
               weir::ListNames(weir::kBuiltInControllers, " and ")};
}

weir::FusionFunction MakeFusion(weir_fusion_callback fusion, void* argument) {
  if (fusion == nullptr) return nullptr;
  return [fusion, argument](DataRate pilot, std::span<const DataRate> copilots) {
    std::array<int64_t, weir::kMaxCopilots> rates_bps{};
    std::ranges::transform(copilots, rates_bps.begin(), &DataRate::bps);
    return DataRate::BitsPerSecond(fusion(argument, pilot.bps(), rates_bps.data(), copilots.size()));
  };
}

}  // namespace

namespace weir::internal {

weir_controller::Made MakeController(const weir_controller* controller, DataRate start_rate) {
  if (controller == nullptr) return Error{"the controller is NULL"};
  return controller->make(start_rate);
}

}  // namespace weir::internal

void weir_controller_destroy(weir_controller* controller) noexcept { delete controller; }

int weir_controller_create_policy(const weir_model* model, int worker, weir_controller** out) noexcept {
  return Create(out, [&](weir_controller*& controller) {
    if (model == nullptr) return FailArgument("the model is NULL");
    const auto make = [model = model->model, worker](DataRate) -> Made {
      return weir::MakePolicyController(model, worker != 0 ? weir::ProcessWorker() : nullptr);
    };
    controller = new weir_controller{.make = make};
    return static_cast<int>(WEIR_OK);
  });
}

int weir_controller_create_built_in(const char* name, weir_controller** out) noexcept {
  return Create(out, [&](weir_controller*& controller) {
    if (name == nullptr) return FailArgument("the name is NULL");
    const auto tried = MakeBuiltIn(name, DataRate::BitsPerSecond(1));
    if (!tried) return Fail(WEIR_ERROR_UNKNOWN_CONTROLLER, tried.error());
    const auto make = [name = std::string(name)](DataRate start_rate) { return MakeBuiltIn(name, start_rate); };
    controller = new weir_controller{.make = make};
    return static_cast<int>(WEIR_OK);
  });
}

int weir_controller_create_custom(const weir_controller_functions* functions, void* argument,
                                  weir_controller** out) noexcept {
  return Create(out, [&](weir_controller*& controller) {
    if (const auto error = weir::CheckFunctions(functions)) return FailArgument(error->message);
    const auto start = [functions = *functions, argument](weir_controller_start request) {
      request.argument = argument;
      return weir::StartFunctions(functions, request);
    };
    const auto make = [start](DataRate) -> Made {
      return std::unique_ptr<weir::ReceiverController>(std::make_unique<weir::InlineCustomController>("custom", start));
    };
    controller = new weir_controller{.make = make};
    return static_cast<int>(WEIR_OK);
  });
}

int weir_controller_create_pool(const char* specification, const weir_named_controller* members, size_t member_count,
                                weir_fusion_callback fusion, void* fusion_argument, weir_controller** out) noexcept {
  return Create(out, [&](weir_controller*& controller) {
    if (specification == nullptr) return FailArgument("the specification is NULL");
    if (members == nullptr && member_count > 0) return FailArgument("the members are NULL");
    auto pool = weir::ParsePool(specification);
    if (!pool) return FailArgument(pool.error());
    std::map<std::string, weir_controller, std::less<>> given;
    for (const weir_named_controller& member : std::span(members, member_count)) {
      if (member.name == nullptr || member.controller == nullptr)
        return FailArgument("a member has no name or is NULL");
      given.emplace(member.name, *member.controller);
    }
    const auto make = [pool = std::move(pool.value()), given = std::move(given),
                       fusion = MakeFusion(fusion, fusion_argument)](DataRate start_rate) -> Made {
      const auto make_member = [&](const std::string& name) {
        const auto found = given.find(name);
        return found == given.end() ? MakeBuiltIn(name, start_rate) : found->second.make(start_rate);
      };
      auto made = weir::PoolController::Create(pool, make_member, {.fusion = fusion, .policy = nullptr});
      if (!made) return Error{made.error()};
      return Made(std::move(made.value()));
    };
    // Reports a member that cannot be made here, not in each estimator.
    const auto tried = make(DataRate::BitsPerSecond(1));
    if (!tried) return FailArgument(tried.error());
    controller = new weir_controller{.make = make};
    return static_cast<int>(WEIR_OK);
  });
}
