#include "weir/objective.h"

#include <cmath>

#include "weir/names.h"

namespace weir {
namespace {

constexpr float kMaxSumError = 0.001f;

bool IsWeight(float value) { return value > 0.0f && value < 1.0f; }

}  // namespace

std::optional<Objective> NormalizedObjective(float throughput, float latency, float loss) {
  for (const float weight : {throughput, latency, loss}) {
    if (!std::isfinite(weight) || weight <= 0.0f) return std::nullopt;
  }
  // In double: the sum of three floats cannot overflow.
  const double sum = double{throughput} + double{latency} + double{loss};
  const Objective objective{static_cast<float>(throughput / sum), static_cast<float>(latency / sum),
                            static_cast<float>(loss / sum)};
  // Weights that differ by more than a float can express round to 0 and 1.
  if (!IsWeight(objective.throughput) || !IsWeight(objective.latency) || !IsWeight(objective.loss)) return std::nullopt;
  return objective;
}

std::optional<Error> CheckObjective(const Objective& objective) {
  const auto& [throughput, latency, loss] = objective;
  const bool are_weights = IsWeight(throughput) && IsWeight(latency) && IsWeight(loss);
  if (are_weights && std::abs(throughput + latency + loss - 1.0f) <= kMaxSumError) return std::nullopt;
  return Error{"the objective's weights must be above 0 and sum to 1; NormalizedObjective() divides by their sum"};
}

std::optional<Objective> ObjectivePreset(std::string_view name) {
  const ObjectivePresetEntry* entry = FindRow(kObjectivePresets, name);
  return entry ? std::optional(entry->objective) : std::nullopt;
}

}  // namespace weir
