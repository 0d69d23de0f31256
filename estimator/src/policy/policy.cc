#include "policy/policy.h"

#include <utility>

#include "policy/loaded_model.h"

namespace weir {

struct Policy::Implementation {
  internal::ModelRunner runner;
};

Policy::Policy(std::shared_ptr<const PolicyModel> model)
    : model_(std::move(model)), implementation_(new Implementation{internal::ModelRunner(*model_->loaded_)}) {}

Policy::~Policy() = default;

Result<std::unique_ptr<Policy>> Policy::Load(std::span<const std::byte> model, TimeDelta time_limit) {
  auto loaded = PolicyModel::Load(model, time_limit);
  if (!loaded) return Error{loaded.error()};
  return std::make_unique<Policy>(std::move(loaded.value()));
}

PolicyFault Policy::Run(std::span<const float> observation, const Objective& objective, std::span<float> action) {
  return implementation_->runner.Run(observation, objective, action);
}

int Policy::path_kind() const { return implementation_->runner.path_kind(); }

void Policy::ResetState() { implementation_->runner.ResetState(); }

}  // namespace weir
