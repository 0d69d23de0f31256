// Makes the receiver controllers of the library by name.
#ifndef WEIR_CONTROLLERS_H_
#define WEIR_CONTROLLERS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "weir/network_controller.h"
#include "weir/policy_model.h"
#include "weir/registry.h"
#include "weir/result.h"

namespace weir {

// Null for a name that is not in `kBuiltInControllers`. `fixed_rate` is the rate of "fixed".
std::unique_ptr<ReceiverController> MakeBuiltInController(std::string_view name, DataRate fixed_rate);

// A controller that runs a policy model.
std::unique_ptr<ReceiverController> MakePolicyController(std::shared_ptr<const PolicyModel> model);

// True for "weir" and "weir:NAME", which are policy models.
bool IsModelName(std::string_view controller);

// The policy model after "weir:"; `name` is empty for plain "weir".
using ModelSource = std::function<Result<std::shared_ptr<const PolicyModel>>(const std::string& name)>;

// A controller that needs nothing but the library: "weir", "weir:NAME", or a name of `kBuiltInControllers`.
Result<std::unique_ptr<ReceiverController>> MakeController(const std::string& name, const ModelSource& models,
                                                           DataRate fixed_rate);

}  // namespace weir

#endif  // WEIR_CONTROLLERS_H_
