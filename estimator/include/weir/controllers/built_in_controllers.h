// The receiver-side controllers that need no model, by name.
#ifndef WEIR_CONTROLLERS_BUILT_IN_CONTROLLERS_H_
#define WEIR_CONTROLLERS_BUILT_IN_CONTROLLERS_H_

#include <array>
#include <memory>
#include <string_view>

#include "weir/rate_controller.h"

namespace weir {

inline constexpr std::array<std::string_view, 3> kBuiltInControllers{"rule", "nada", "fixed"};

// Null for any other name. `fixed_rate` is the target of "fixed".
std::unique_ptr<RateController> MakeBuiltInController(std::string_view name, DataRate fixed_rate);

}  // namespace weir

#endif  // WEIR_CONTROLLERS_BUILT_IN_CONTROLLERS_H_
