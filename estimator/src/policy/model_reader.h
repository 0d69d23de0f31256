// The description of a policy model, read from its tensors and metadata and checked before its first decision.
//
// The contract (schema 1): inputs `observation` [1,D], optional `objective` [1,3], optional `state` [1,S]; outputs
// `action` [1,A] and, with a state, `next_state` [1,S]; all float32. FeatureSpecification defines D. Metadata, all
// strings: weir.schema, weir.features, weir.history, weir.interval_ms, weir.action_kind, weir.action_alpha (relative),
// weir.action_multipliers (discrete), weir.min_bps, weir.max_bps, weir.golden, and optionally weir.name, weir.version,
// weir.provenance. Others are ignored, such as weir.ranges of older models.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "onnx/onnx_model.h"
#include "weir/model_description.h"
#include "weir/result.h"

namespace weir {

namespace internal {

// Indices of the contract's inputs and outputs.
struct ModelLayout {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  struct State {
    size_t input = kNone;
    size_t output = kNone;
  };

  size_t observation = kNone;
  size_t objective = kNone;
  size_t action = kNone;
  std::vector<State> states;
};

struct ModelContract {
  ModelDescription description;
  ModelLayout layout;
  std::string golden;  // JSON, or empty for MMSys 2024 models
};

// `model` has passed FindOnnxObjection().
Result<ModelContract> ReadModelContract(const OnnxModel& model);

}  // namespace internal
}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_
