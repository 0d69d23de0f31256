#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <utility>

#include "policy/loaded_model.h"

namespace weir::internal {
namespace {

bool AllFinite(std::span<const float> values) {
  // In integers, which the compiler may add up in any order.
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t not_finite = 0;
  for (const float value : values) not_finite += (std::bit_cast<uint32_t>(value) & kExponent) == kExponent;
  return not_finite == 0;
}

}  // namespace

ModelRunner::ModelRunner(const LoadedModel& model) : model_(model) {
  auto session = model.evaluator->MakeSession();
  if (session) {
    session_ = std::move(session.value());
  } else {
    error_ = session.error();
  }
}

void ModelRunner::ResetState() {
  path_kind_ = 0;
  if (session_ == nullptr) return;
  for (const ModelLayout::State& state : model_.contract.layout.states)
    std::ranges::fill(session_->input(state.input), 0.0f);
}

PolicyFault ModelRunner::Fault(PolicyFault fault) {
  ResetState();
  return fault;
}

PolicyFault ModelRunner::Run(std::span<const float> observation, const Objective& objective, std::span<float> action) {
  assert(observation.size() == model_.contract.description.observation_size &&
         action.size() == model_.contract.description.action_size);
  const ModelLayout& layout = model_.contract.layout;
  if (session_ == nullptr) return PolicyFault::kRuntimeError;
  if (!AllFinite(observation)) return Fault(PolicyFault::kBadObservation);
  std::ranges::copy(observation, session_->input(layout.observation).begin());
  if (layout.objective != ModelLayout::kNone) {
    const std::span<float> weights = session_->input(layout.objective);
    weights[0] = objective.throughput;
    weights[1] = objective.latency;
    weights[2] = objective.loss;
  }
  if (auto error = session_->Run()) {
    error_ = std::move(error->message);
    return Fault(PolicyFault::kRuntimeError);
  }
  if (!AllFinite(session_->output(layout.action))) return Fault(PolicyFault::kNonFiniteOutput);
  const bool has_path_kind = layout.path_kind != ModelLayout::kNone;
  if (has_path_kind && !AllFinite(session_->output(layout.path_kind))) return Fault(PolicyFault::kNonFiniteOutput);
  for (const ModelLayout::State& state : layout.states) {
    if (!AllFinite(session_->output(state.output))) return Fault(PolicyFault::kNonFiniteOutput);
  }
  for (const ModelLayout::State& state : layout.states) {
    std::ranges::copy(session_->output(state.output), session_->input(state.input).begin());
  }
  if (has_path_kind) {
    const float kind = session_->output(layout.path_kind).front();
    path_kind_ = static_cast<int>(std::lround(std::clamp(kind, 0.0f, static_cast<float>(Policy::kMaxPathKind))));
  }
  std::ranges::copy(session_->output(layout.action), action.begin());
  return PolicyFault::kNone;
}

}  // namespace weir::internal
