// The golden vectors that a model carries in its metadata: inputs and the actions the exporter saw for them.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_GOLDEN_VECTORS_H_
#define WEIR_ESTIMATOR_SRC_POLICY_GOLDEN_VECTORS_H_

#include <string_view>
#include <vector>

#include "weir/result.h"

namespace weir::internal {

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

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_GOLDEN_VECTORS_H_
