#include "weir/pool/library_members.h"

#include <utility>

#include "weir/controllers/built_in_controllers.h"
#include "weir/policy/policy.h"
#include "weir/policy/policy_controller.h"
#include "weir/registry/names.h"

namespace weir {

bool IsModelMember(std::string_view member) { return member.substr(0, member.find(':')) == "weir"; }

std::unique_ptr<RateController> MakeModelMember(std::shared_ptr<const PolicyModel> model) {
  return std::make_unique<PolicyController>(std::make_unique<Policy>(std::move(model)));
}

Result<std::unique_ptr<RateController>> MakeModelMember(const std::string& member,
                                                        std::shared_ptr<const PolicyModel> model) {
  if (!IsModelMember(member)) return Error{"\"" + member + "\" is no model; there are weir and weir:MODEL"};
  return MakeModelMember(std::move(model));
}

Result<std::unique_ptr<RateController>> MakeLibraryMember(const std::string& member, const ModelSource& models,
                                                          DataRate fixed_rate) {
  if (IsModelMember(member)) {
    const size_t colon = member.find(':');
    auto model = models(colon == std::string::npos ? "" : member.substr(colon + 1));
    if (!model) return Error{model.error()};
    return MakeModelMember(std::move(model.value()));
  }
  if (auto built_in = MakeBuiltInController(member, fixed_rate)) return built_in;
  return Error{"there is none of this name; there are weir, weir:MODEL, " + ListNames(kBuiltInControllers)};
}

}  // namespace weir
