#include "policy/model_checks.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "policy/policy.h"

namespace weir::internal {
namespace {

// Objectives near the corners of the weight space, and one in its middle.
constexpr Objective kProbedObjectives[] = {
    kBalanced, {0.98f, 0.01f, 0.01f}, {0.01f, 0.98f, 0.01f}, {0.01f, 0.01f, 0.98f}};

// The shortest of this many runs counts, since the machine may be busy during some.
constexpr int kTimedRuns = 5;
constexpr int kRandomObservations = 32;

std::string EvaluatorName(const PolicyModel& model) {
  return model.needs_onnxruntime() ? std::string("this ONNX Runtime (") + OnnxRuntimeVersion() + ")" : "this processor";
}

class Checks {
 public:
  Checks(Policy& policy, TimeDelta time_limit)
      : policy_(policy), description_(policy.description()), time_limit_(time_limit) {}

  std::optional<Error> CheckTime() {
    for (const auto& observations :
         {SaturatedObservations(description_), RandomObservations(description_, kRandomObservations)}) {
      for (const std::vector<float>& observation : observations) {
        if (auto error = CheckTime(observation)) return error;
      }
    }
    return std::nullopt;
  }

  std::optional<Error> CheckFinite() {
    std::vector<float> action(description_.action_size);
    const auto check = [&](const std::vector<float>& observation, const std::string& where) -> std::optional<Error> {
      for (const Objective& objective : kProbedObjectives) {
        switch (policy_.Run(observation, objective, action)) {
          case PolicyFault::kNone:
            continue;
          case PolicyFault::kRuntimeError:
            return Error{policy_.error()};
          default:
            return Error{"its output is not finite for " + where};
        }
      }
      return std::nullopt;
    };
    if (auto error = check(std::vector<float>(description_.observation_size, 0.0f), "an observation of zeros"))
      return error;
    for (const std::vector<float>& observation : SaturatedObservations(description_)) {
      if (auto error = check(observation, "an observation with saturated features")) return error;
    }
    policy_.ResetState();
    return std::nullopt;
  }

  std::optional<Error> CheckGolden(const std::string& json) {
    if (description_.format != ModelFormat::kWeir1) return std::nullopt;
    const auto vectors = ParseGoldenVectors(json);
    if (!vectors) return Error{"its metadata 'weir.golden' is not a list of golden vectors: " + vectors.error()};
    for (size_t i = 0; i < vectors.value().size(); ++i) {
      if (auto error = CheckGolden(vectors.value()[i], "golden vector " + std::to_string(i))) return error;
      if (auto error = CheckTime(vectors.value()[i].observation)) return error;
    }
    policy_.ResetState();
    return std::nullopt;
  }

 private:
  std::optional<Error> CheckTime(const std::vector<float>& observation) {
    std::vector<float> action(description_.action_size);
    TimeDelta best = TimeDelta::PlusInfinity();
    for (int i = 0; i < kTimedRuns; ++i) {
      const auto start = std::chrono::steady_clock::now();
      // Other checks cover non-finite outputs.
      if (policy_.Run(observation, kBalanced, action) == PolicyFault::kRuntimeError) return Error{policy_.error()};
      const auto taken = std::chrono::steady_clock::now() - start;
      best = std::min(best, TimeDelta::Micros(std::chrono::ceil<std::chrono::microseconds>(taken).count()));
      if (best <= time_limit_) return std::nullopt;
    }
    return Error{"a decision takes " + std::to_string(best.us()) + " us on this machine, at most " +
                 std::to_string(time_limit_.us()) + " us are allowed; export a smaller model"};
  }

  std::optional<Error> CheckGolden(const GoldenVector& vector, const std::string& which) {
    const bool fits = vector.observation.size() == description_.observation_size &&
                      vector.action.size() == description_.action_size &&
                      (vector.state.empty() || vector.state.size() == description_.state_size) &&
                      (vector.next_state.empty() || vector.next_state.size() == description_.state_size) &&
                      (vector.objective.empty() ? !description_.takes_objective : vector.objective.size() == 3);
    if (!fits) return Error{which + " does not have the sizes of the model's inputs and outputs"};
    Objective objective;
    if (!vector.objective.empty()) objective = {vector.objective[0], vector.objective[1], vector.objective[2]};
    policy_.ResetState();
    if (!vector.state.empty()) std::ranges::copy(vector.state, policy_.state().begin());
    std::vector<float> action(description_.action_size);
    if (policy_.Run(vector.observation, objective, action) != PolicyFault::kNone)
      return Error{which + " could not be computed"};
    const auto compare = [&](std::span<const float> computed,
                             const std::vector<float>& expected) -> std::optional<Error> {
      for (size_t i = 0; i < expected.size(); ++i) {
        if (MatchesGolden(computed[i], expected[i])) continue;
        return Error{which + " gives " + std::to_string(computed[i]) + " here, but gave " +
                     std::to_string(expected[i]) + " where it was exported; the file was altered, or " +
                     EvaluatorName(policy_.model()) + " computes it differently"};
      }
      return std::nullopt;
    };
    if (auto error = compare(action, vector.action)) return error;
    if (vector.next_state.empty()) return std::nullopt;
    return compare(policy_.state(), vector.next_state);
  }

  Policy& policy_;
  const ModelDescription& description_;
  const TimeDelta time_limit_;
};

}  // namespace

std::optional<Error> CheckPolicy(Policy& policy, const std::string& golden, TimeDelta time_limit) {
  Checks checks(policy, time_limit);
  if (auto error = checks.CheckTime()) return error;
  if (auto error = checks.CheckFinite()) return error;
  return checks.CheckGolden(golden);
}

}  // namespace weir::internal
