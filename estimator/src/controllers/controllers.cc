#include "weir/controllers.h"

#include "controllers/fixed_controller.h"
#include "controllers/nada_controller.h"
#include "controllers/rule_controller.h"
#include "registry.h"

namespace weir {
namespace {

using Made = std::unique_ptr<ReceiverController>;

struct Factory {
  std::string_view name;
  Made (*make)(DataRate fixed_rate);
};

constexpr Factory kFactories[] = {
    {"nada", [](DataRate) -> Made { return std::make_unique<NadaController>(); }},
    {"rule", [](DataRate) -> Made { return std::make_unique<RuleController>(); }},
    {"fixed", [](DataRate fixed_rate) -> Made { return std::make_unique<FixedController>(fixed_rate); }},
};
static_assert(HaveSameNames(kFactories, kBuiltInControllers), "each controller that is built_in needs its factory");

}  // namespace

std::unique_ptr<ReceiverController> MakeBuiltInController(std::string_view name, DataRate fixed_rate) {
  const Factory* factory = FindRow(kFactories, name);
  return factory ? factory->make(fixed_rate) : nullptr;
}

bool IsModelName(std::string_view controller) { return controller.substr(0, controller.find(':')) == "weir"; }

Result<std::unique_ptr<ReceiverController>> MakeController(const std::string& name, const ModelSource& models,
                                                           DataRate fixed_rate) {
  if (IsModelName(name)) {
    const size_t colon = name.find(':');
    auto model = models(colon == std::string::npos ? "" : name.substr(colon + 1));
    if (!model) return Error{model.error()};
    return MakePolicyController(std::move(model.value()));
  }
  if (auto built_in = MakeBuiltInController(name, fixed_rate)) return built_in;
  return Error{"there is none of this name; there are weir, weir:MODEL, " + ListNames(kBuiltInControllers)};
}

}  // namespace weir
