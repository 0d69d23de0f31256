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

// Runs a new policy on zeros, saturated and random observations and on golden vectors (JSON), each decision in
// `time_limit` at most; the error, or nothing when all is well.
std::optional<Error> CheckPolicy(Policy& policy, const std::string& golden, TimeDelta time_limit);

// --- Observations from the ranges of what a model may ever be shown.

// The far ends, where a policy must stay finite: all features at their highest, all at their lowest, and each alone at
// its highest, the others zero.
std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description);

// `count` of them, always the same for a description. Small values are as likely as large ones.
std::vector<std::vector<float>> RandomObservations(const ModelDescription& description, int count);

// --- The golden vectors that a model carries in its metadata: inputs and the actions the exporter saw for them.

struct GoldenVector {
  std::vector<float> observation;
  std::vector<float> objective;  // empty when the model takes none
  std::vector<float> state;      // empty: all zeros
  std::vector<float> action;
  std::vector<float> next_state;  // empty: not compared
};

// Reads `[{"observation":[...],"objective":[...],"state":[...],"action":[...],"next_state":[...]}, ...]`; observation
// and action are required. At most 64 vectors of at most 65536 numbers each; any other JSON is an error.
Result<std::vector<GoldenVector>> ParseGoldenVectors(std::string_view json);

// Within 1e-4 relative plus 1e-4 absolute: ONNX Runtime promises no identical bits across processors.
bool MatchesGolden(float value, float golden);

}  // namespace internal
}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MODEL_CHECKS_H_
