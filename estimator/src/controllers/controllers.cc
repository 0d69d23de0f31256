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

}  // namespace weir
