// A loaded model as the C interface hands it around.
#ifndef WEIR_ESTIMATOR_SRC_C_C_API_MODEL_H_
#define WEIR_ESTIMATOR_SRC_C_C_API_MODEL_H_

#include <cstddef>
#include <memory>

#include "../../c/weir.h"
#include "weir/policy/policy_model.h"
#include "weir/result.h"

// Counts as one user of the model; estimators and senders are others.
struct weir_model {
  std::shared_ptr<const weir::PolicyModel> model;
};

namespace weir::internal {

// `loaded`, else the ONNX in memory; the error when neither is given, or both are.
Result<std::shared_ptr<const PolicyModel>> ModelOf(const weir_model* loaded, const void* model,
                                                   size_t model_size_bytes);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_C_C_API_MODEL_H_
