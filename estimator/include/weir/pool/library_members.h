// The members of a pool that the library makes by itself, for every host.
#ifndef WEIR_POOL_LIBRARY_MEMBERS_H_
#define WEIR_POOL_LIBRARY_MEMBERS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "weir/policy/policy_model.h"
#include "weir/rate_controller.h"
#include "weir/result.h"

namespace weir {

// A policy model, by what stands after "weir:"; empty for plain "weir".
using ModelSource = std::function<Result<std::shared_ptr<const PolicyModel>>(const std::string& name)>;

// Whether a member of that name is a policy model: "weir" or "weir:NAME".
bool IsModelMember(std::string_view member);

// `member`: "weir" and "weir:NAME", any policy model; or a name of `kBuiltInControllers`. `fixed_rate`: of "fixed".
Result<std::unique_ptr<RateController>> MakeLibraryMember(const std::string& member, const ModelSource& models,
                                                          DataRate fixed_rate);

// The member of a pool that a loaded model is.
std::unique_ptr<RateController> MakeModelMember(std::shared_ptr<const PolicyModel> model);
// The same for the member of that name, "weir" or "weir:NAME"; the error for another name.
Result<std::unique_ptr<RateController>> MakeModelMember(const std::string& member,
                                                        std::shared_ptr<const PolicyModel> model);

}  // namespace weir

#endif  // WEIR_POOL_LIBRARY_MEMBERS_H_
