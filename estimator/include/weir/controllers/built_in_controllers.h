// Makes the receiver-side controllers that need no model, by name.
#ifndef WEIR_CONTROLLERS_BUILT_IN_CONTROLLERS_H_
#define WEIR_CONTROLLERS_BUILT_IN_CONTROLLERS_H_

#include <memory>
#include <string_view>

#include "weir/rate_controller.h"
#include "weir/registry/controllers.h"

namespace weir {

// Null for a name that is not in `kBuiltInControllers`. `fixed_rate`: what a constant rate is to be.
std::unique_ptr<RateController> MakeBuiltInController(std::string_view name, DataRate fixed_rate);

}  // namespace weir

#endif  // WEIR_CONTROLLERS_BUILT_IN_CONTROLLERS_H_
