#include "weir/controllers/built_in_controllers.h"

#include "weir/controllers/fixed_controller.h"
#include "weir/controllers/nada_controller.h"
#include "weir/controllers/rule_controller.h"

namespace weir {

std::unique_ptr<RateController> MakeBuiltInController(std::string_view name, DataRate fixed_rate) {
  if (name == "rule") return std::make_unique<RuleController>();
  if (name == "nada") return std::make_unique<NadaController>();
  if (name == "fixed") return std::make_unique<FixedController>(fixed_rate);
  return nullptr;
}

}  // namespace weir
