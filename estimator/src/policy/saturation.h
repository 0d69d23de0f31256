// The far ends of what a model may ever be shown, for the checks at load: a policy must stay finite there.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_SATURATION_H_
#define WEIR_ESTIMATOR_SRC_POLICY_SATURATION_H_

#include <vector>

#include "weir/policy/model_description.h"

namespace weir::internal {

// Observations for such a model: all features at their highest, all at their lowest, and each alone at its highest, the
// others zero.
std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_SATURATION_H_
