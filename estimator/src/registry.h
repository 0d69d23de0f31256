// The table of controllers that the library makes by itself. Python has it as weir._core.CONTROLLERS.
#ifndef WEIR_REGISTRY_H_
#define WEIR_REGISTRY_H_

#include <memory>
#include <span>
#include <string_view>

#include "controllers/fixed_controller.h"
#include "controllers/nada_controller.h"
#include "controllers/rule_controller.h"
#include "weir/network_controller.h"
#include "weir/units.h"

namespace weir {

struct RegisteredController {
  // Lower case with hyphens, unique.
  std::string_view name;
  // One line.
  std::string_view summary;
  // Makes a built-in controller; null for "weir", which needs a model.
  std::unique_ptr<ReceiverController> (*make)(DataRate fixed_rate) = nullptr;

  // A model computes its estimates, which depend on the objective.
  constexpr bool uses_model() const { return make == nullptr; }
};

inline constexpr RegisteredController kControllers[] = {
    {.name = "weir", .summary = "a learned policy at the receiver, behind the guard"},
    {.name = "nada",
     .summary = "NADA, RFC 8698",
     .make = [](DataRate) -> std::unique_ptr<ReceiverController> { return std::make_unique<NadaController>(); }},
    {.name = "rule",
     .summary = "ten lines without learning",
     .make = [](DataRate) -> std::unique_ptr<ReceiverController> { return std::make_unique<RuleController>(); }},
    {.name = "fixed",
     .summary = "a constant rate",
     .make = [](DataRate fixed_rate) -> std::unique_ptr<ReceiverController> {
       return std::make_unique<FixedController>(fixed_rate);
     }},
};
// All but the first.
inline constexpr std::span<const RegisteredController> kBuiltInControllers = std::span(kControllers).subspan(1);

}  // namespace weir

#endif  // WEIR_REGISTRY_H_
