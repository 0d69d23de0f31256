// The far ends of what a model may ever be shown, for the checks at load: a policy must stay finite there.
#ifndef WEIR_SRC_SATURATION_H_
#define WEIR_SRC_SATURATION_H_

#include <vector>

#include "weir/model_description.h"

namespace weir::internal {

// Observations for such a model: all features at their highest, all at their lowest, and each alone at its highest, the
// others zero.
std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description);

}  // namespace weir::internal

#endif  // WEIR_SRC_SATURATION_H_
