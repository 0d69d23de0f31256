// Observations for the checks at load, from the ranges of what a model may ever be shown.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_PROBE_OBSERVATIONS_H_
#define WEIR_ESTIMATOR_SRC_POLICY_PROBE_OBSERVATIONS_H_

#include <vector>

#include "policy/model_description.h"

namespace weir::internal {

// The far ends, where a policy must stay finite: all features at their highest, all at their lowest, and each alone at
// its highest, the others zero.
std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description);

// `count` of them, always the same for a description. Small values are as likely as large ones.
std::vector<std::vector<float>> RandomObservations(const ModelDescription& description, int count);

}  // namespace weir::internal

#endif  // WEIR_ESTIMATOR_SRC_POLICY_PROBE_OBSERVATIONS_H_
