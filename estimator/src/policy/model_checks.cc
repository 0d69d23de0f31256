#include <algorithm>
#include <string>
#include <vector>

#include "golden_vectors.h"
#include "loaded_model.h"
#include "saturation.h"

namespace weir::internal {
namespace {

// The corners that real objectives come near to, and a middle.
constexpr Objective kProbedObjectives[] = {
    kBalanced, {0.98f, 0.01f, 0.01f}, {0.01f, 0.98f, 0.01f}, {0.01f, 0.01f, 0.98f}};

std::string EvaluatorName(const LoadedModel& model) {
  return model.needs_onnxruntime ? std::string("this ONNX Runtime (") + OnnxRuntimeVersion() + ")" : "this processor";
}

class Checks {
 public:
  explicit Checks(const LoadedModel& model) : model_(model), description_(model.contract.description), runner_(model) {}

  std::optional<Error> CheckFinite();
  std::optional<Error> CheckGolden();

 private:
  std::optional<Error> CheckGolden(const GoldenVector& vector, const std::string& which);

  const LoadedModel& model_;
  const ModelDescription& description_;
  ModelRunner runner_;
};

std::optional<Error> Checks::CheckFinite() {
  std::vector<float> action(description_.action_size);
  const auto check = [&](const std::vector<float>& observation, const std::string& where) -> std::optional<Error> {
    for (const Objective& objective : kProbedObjectives) {
      switch (runner_.Run(observation, objective, action)) {
        case PolicyFault::kNone:
          continue;
        case PolicyFault::kRuntimeError:
          return Error{runner_.error()};
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
  runner_.ResetState();
  return std::nullopt;
}

std::optional<Error> Checks::CheckGolden(const GoldenVector& vector, const std::string& which) {
  const bool fits = vector.observation.size() == description_.observation_size &&
                    vector.action.size() == description_.action_size &&
                    (vector.state.empty() || vector.state.size() == description_.state_size) &&
                    (vector.next_state.empty() || vector.next_state.size() == description_.state_size) &&
                    (vector.objective.empty() ? !description_.takes_objective : vector.objective.size() == 3);
  if (!fits) return Error{which + " does not have the sizes of the model's inputs and outputs"};
  Objective objective;
  if (!vector.objective.empty()) objective = {vector.objective[0], vector.objective[1], vector.objective[2]};
  runner_.ResetState();
  if (!vector.state.empty()) std::ranges::copy(vector.state, runner_.state().begin());
  std::vector<float> action(description_.action_size);
  if (runner_.Run(vector.observation, objective, action) != PolicyFault::kNone)
    return Error{which + " could not be computed"};
  const auto compare = [&](std::span<const float> computed,
                           const std::vector<float>& expected) -> std::optional<Error> {
    for (size_t i = 0; i < expected.size(); ++i) {
      if (MatchesGolden(computed[i], expected[i])) continue;
      return Error{which + " gives " + std::to_string(computed[i]) + " here, but gave " + std::to_string(expected[i]) +
                   " where it was exported; the file was altered, or " + EvaluatorName(model_) +
                   " computes it differently"};
    }
    return std::nullopt;
  };
  if (auto error = compare(action, vector.action)) return error;
  if (vector.next_state.empty()) return std::nullopt;
  return compare(runner_.state(), vector.next_state);
}

std::optional<Error> Checks::CheckGolden() {
  if (description_.format != ModelFormat::kWeir1) return std::nullopt;
  const auto vectors = ParseGoldenVectors(model_.contract.golden);
  if (!vectors) return Error{"its metadata 'weir.golden' is not a list of golden vectors: " + vectors.error()};
  for (size_t i = 0; i < vectors.value().size(); ++i) {
    if (auto error = CheckGolden(vectors.value()[i], "golden vector " + std::to_string(i))) return error;
  }
  runner_.ResetState();
  return std::nullopt;
}

}  // namespace

std::optional<Error> CheckLoadedModel(const LoadedModel& model) {
  Checks checks(model);
  if (auto error = checks.CheckFinite()) return error;
  return checks.CheckGolden();
}

}  // namespace weir::internal
