#include "weir/pool/library_members.h"

#include <utility>

#include "weir/controllers/built_in_controllers.h"
#include "weir/policy/policy.h"
#include "weir/policy/policy_controller.h"
#include "weir/registry/names.h"

namespace weir {

Result<std::unique_ptr<RateController>> MakeLibraryMember(const std::string& member, const ModelSource& models,
                                                          DataRate fixed_rate) {
  const size_t colon = member.find(':');
  if (member.substr(0, colon) == "weir") {
    const auto model = models(colon == std::string::npos ? "" : member.substr(colon + 1));
    if (!model) return Error{model.error()};
    auto policy = Policy::Load(model.value());
    if (!policy) return Error{policy.error()};
    return std::unique_ptr<RateController>(std::make_unique<PolicyController>(std::move(policy.value())));
  }
  if (auto built_in = MakeBuiltInController(member, fixed_rate)) return built_in;
  return Error{"there is none of this name; there are weir, weir:MODEL, " + ListNames(kBuiltInControllers)};
}

}  // namespace weir
