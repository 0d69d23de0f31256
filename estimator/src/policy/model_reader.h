// Reads and checks the signature and metadata of a policy model.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "policy/model_description.h"
#include "onnx/model_session.h"
#include "onnx/onnx_model.h"
#include "weir/result.h"

namespace weir::internal {

// Where among the inputs and outputs those of the contract are.
struct ModelLayout {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  struct State {
    size_t input = kNone;
    size_t output = kNone;
  };

  size_t observation = kNone;
  size_t objective = kNone;
  size_t action = kNone;
  // Of what a model need not have: an output [1,1].
  size_t path_kind = kNone;
  std::vector<State> states;
};

struct ModelContract {
  ModelDescription description;
  ModelLayout layout;
  std::string golden;  // JSON; empty for MMSys 2024 models
};

// What a model declares: its inputs and outputs, as its evaluator knows them, and its metadata.
struct ModelSignature {
  const std::vector<TensorInfo>& inputs;
  const std::vector<TensorInfo>& outputs;
  const OnnxModel& model;
};

Result<ModelContract> ReadModelContract(const ModelSignature& signature);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_
