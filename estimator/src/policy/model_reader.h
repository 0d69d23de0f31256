// Reads and checks the signature and metadata of a policy model.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "onnx_session.h"
#include "weir/policy/model_description.h"
#include "weir/result.h"

namespace weir::internal {

// Where the session's inputs and outputs are.
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
  std::string golden;  // JSON; empty for MMSys 2024 models
};

Result<ModelContract> ReadModelContract(const OnnxSession& session);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MODEL_READER_H_
