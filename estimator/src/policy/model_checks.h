// Checks of a policy before its first decision, and the inputs of these checks.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MODEL_CHECKS_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MODEL_CHECKS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/model_reader.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

class Policy;

namespace internal {

// Runs a new policy on zeros, on saturated and random observations, and on golden vectors (JSON). Each decision must
// take at most `time_limit`. Returns the error, if any.
std::optional<Error> CheckPolicy(Policy& policy, const std::string& golden, TimeDelta time_limit);

// --- Observations from the ranges of the features.

// Extreme observations, for which a policy must return finite actions: all features at their highest, all at their
// lowest, and each one at its highest with the others zero.
std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description);

// `count` random observations, always the same for a description. Small values are as likely as large ones.
std::vector<std::vector<float>> RandomObservations(const ModelDescription& description, int count);

// --- The golden vectors in a model's metadata: inputs and the actions that the exporter computed for them.

struct GoldenVector {
  std::vector<float> observation;
  std::vector<float> objective;  // empty if the model has no such input
  std::vector<float> state;      // if empty, all zeros
  std::vector<float> action;
  std::vector<float> next_state;  // if empty, not compared
};

// Reads `[{"observation":[...],"objective":[...],"state":[...],"action":[...],"next_state":[...]}, ...]`; observation
// and action are required. At most 64 vectors of at most 65536 numbers each; any other JSON is an error.
Result<std::vector<GoldenVector>> ParseGoldenVectors(std::string_view json);

// True within 1e-4 relative plus 1e-4 absolute, since ONNX Runtime is not bit-identical across processors.
bool MatchesGolden(float value, float golden);

}  // namespace internal
}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MODEL_CHECKS_H_
