#include "policy/policy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <optional>
#include <utility>

namespace weir {
namespace {

// Flushes subnormal numbers to 0 on this thread during its lifetime. An operation on them takes 50 times as long, and a
// model could produce them only on inputs that the checks at load do not cover.
class SubnormalsAreZero {
 public:
  SubnormalsAreZero(const SubnormalsAreZero&) = delete;
  SubnormalsAreZero& operator=(const SubnormalsAreZero&) = delete;
#if defined(__SSE2__)
  SubnormalsAreZero() { __builtin_ia32_ldmxcsr(before_ | kFlushToZero | kDenormalsAreZero); }
  ~SubnormalsAreZero() { __builtin_ia32_ldmxcsr(before_); }

 private:
  static constexpr unsigned kFlushToZero = 1u << 15, kDenormalsAreZero = 1u << 6;
  const unsigned before_ = __builtin_ia32_stmxcsr();
#elif defined(__aarch64__)
  SubnormalsAreZero() { Set(before_ | kFlushToZero); }
  ~SubnormalsAreZero() { Set(before_); }

 private:
  static constexpr uint64_t kFlushToZero = 1u << 24;
  static uint64_t Get() {
    uint64_t value = 0;
    asm volatile("mrs %0, fpcr" : "=r"(value));
    return value;
  }
  static void Set(uint64_t value) { asm volatile("msr fpcr, %0" ::"r"(value) : "memory"); }
  const uint64_t before_ = Get();
#else
  SubnormalsAreZero() {}
#endif
};

bool AllFinite(std::span<const float> values) {
  // Uses integers, which the compiler may sum in any order.
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t not_finite = 0;
  for (const float value : values) not_finite += (std::bit_cast<uint32_t>(value) & kExponent) == kExponent;
  return not_finite == 0;
}

}  // namespace

Policy::Policy(std::shared_ptr<const PolicyModel> model)
    : model_(std::move(model)), layout_(model_->loaded_->contract.layout) {
  auto session = model_->loaded_->evaluator->MakeSession();
  if (session) {
    session_ = std::move(session.value());
  } else {
    error_ = session.error();
  }
}

Result<std::unique_ptr<Policy>> Policy::Load(std::span<const std::byte> model, TimeDelta time_limit) {
  auto loaded = PolicyModel::Load(model, time_limit);
  if (!loaded) return Error{loaded.error()};
  return std::make_unique<Policy>(std::move(loaded.value()));
}

std::shared_ptr<const PolicyModel> Policy::MakeModel(std::unique_ptr<const internal::LoadedModel> loaded) {
  return std::shared_ptr<const PolicyModel>(new PolicyModel(std::move(loaded)));
}

void Policy::ResetState() {
  if (session_ == nullptr) return;
  for (const internal::ModelLayout::State& state : layout_.states)
    std::ranges::fill(session_->input(state.input), 0.0f);
}

PolicyFault Policy::Fault(PolicyFault fault) {
  ResetState();
  return fault;
}

PolicyFault Policy::Prepare(std::span<const float> observation, const Objective& objective) {
  if (session_ == nullptr) return PolicyFault::kRuntimeError;
  if (!AllFinite(observation)) return Fault(PolicyFault::kBadObservation);
  std::ranges::copy(observation, session_->input(layout_.observation).begin());
  if (layout_.objective != internal::ModelLayout::kNone) {
    const std::span<float> weights = session_->input(layout_.objective);
    weights[0] = objective.throughput;
    weights[1] = objective.latency;
    weights[2] = objective.loss;
  }
  return PolicyFault::kNone;
}

PolicyFault Policy::Compute() {
  std::optional<Error> error = session_->Run();
  if (!error) return PolicyFault::kNone;
  error_ = std::move(error->message);
  return Fault(PolicyFault::kRuntimeError);
}

PolicyFault Policy::Finish(std::span<float> action) {
  if (!AllFinite(session_->output(layout_.action))) return Fault(PolicyFault::kNonFiniteOutput);
  for (const internal::ModelLayout::State& state : layout_.states) {
    if (!AllFinite(session_->output(state.output))) return Fault(PolicyFault::kNonFiniteOutput);
  }
  for (const internal::ModelLayout::State& state : layout_.states) {
    std::ranges::copy(session_->output(state.output), session_->input(state.input).begin());
  }
  std::ranges::copy(session_->output(layout_.action), action.begin());
  return PolicyFault::kNone;
}

PolicyFault Policy::Run(std::span<const float> observation, const Objective& objective, std::span<float> action) {
  assert(observation.size() == description().observation_size && action.size() == description().action_size);
  PolicyFault fault = Prepare(observation, objective);
  if (fault == PolicyFault::kNone) {
    const SubnormalsAreZero guard;
    fault = Compute();
  }
  return fault == PolicyFault::kNone ? Finish(action) : fault;
}

void Policy::RunTogether(std::span<PolicyDecision> decisions) {
  if (decisions.empty()) return;
  std::array<internal::ModelSession*, internal::kMaxTogether> sessions{};
  size_t count = 0;
  for (PolicyDecision& decision : decisions) {
    decision.fault = decision.policy->Prepare(decision.observation, decision.objective);
    if (decision.fault == PolicyFault::kNone) sessions[count++] = decision.policy->session_.get();
  }
  const SubnormalsAreZero guard;
  const internal::ModelEvaluator& evaluator = *decisions[0].policy->model_->loaded_->evaluator;
  const bool together = evaluator.RunTogether(std::span(sessions).first(count));
  for (PolicyDecision& decision : decisions) {
    if (decision.fault == PolicyFault::kNone && !together) decision.fault = decision.policy->Compute();
    if (decision.fault == PolicyFault::kNone) decision.fault = decision.policy->Finish(decision.action);
  }
}

}  // namespace weir
