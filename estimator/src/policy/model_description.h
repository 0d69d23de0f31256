// Description of a policy model, from its inputs, outputs and `weir.*` metadata, checked before its first decision.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MODEL_DESCRIPTION_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MODEL_DESCRIPTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "policy/action.h"
#include "policy/feature_history.h"
#include "weir/units.h"

namespace weir {

enum class ModelFormat : uint8_t {
  kWeir1,      // metadata weir.schema = 1
  kMmsys2024,  // the 150 features of the ACM MMSys 2024 challenge; a decision every 60 ms, in bps
};

struct ModelDescription {
  ModelFormat format = ModelFormat::kWeir1;
  std::string name;
  std::string version;
  std::string provenance;
  // Empty for kMmsys2024, whose features are those of mmsys_features.h.
  FeatureSpecification features;
  // Between two decisions.
  TimeDelta interval = TimeDelta::Millis(100);
  ActionMapping action;
  size_t observation_size = 0;
  size_t action_size = 0;
  // Elements of recurrent state; 0: the model keeps none.
  size_t state_size = 0;
  bool takes_objective = false;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MODEL_DESCRIPTION_H_
