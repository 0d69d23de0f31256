// The description of a policy: its observations, decision interval and actions. A model has it in its metadata; a host
// with its own PolicyExecutor writes it.
#ifndef WEIR_MODEL_DESCRIPTION_H_
#define WEIR_MODEL_DESCRIPTION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "weir/action.h"
#include "weir/interval_statistics_fields.h"
#include "weir/units.h"

namespace weir {

class PolicyModel;

// Layout of an observation: for each interval, newest first, the fields about intervals in the given order, followed by
// the newest values of the fields about the path.
struct FeatureSpecification {
  std::vector<IntervalStatisticsField> fields;
  // Number of intervals, including the newest; at least 1.
  int history = 1;

  size_t path_fields() const {
    return static_cast<size_t>(
        std::count_if(fields.begin(), fields.end(), [](const auto& field) { return field.of_path; }));
  }
  size_t interval_fields() const { return fields.size() - path_fields(); }
  size_t size() const { return interval_fields() * static_cast<size_t>(history) + path_fields(); }
  // The field of an element of the observation.
  const IntervalStatisticsField& at(size_t element) const;
};

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
  // Interval of the decisions.
  TimeDelta interval = TimeDelta::Millis(100);
  ActionMapping action;
  size_t observation_size = 0;
  size_t action_size = 0;
  // Number of elements of the recurrent state, or 0 if there is none.
  size_t state_size = 0;
  bool takes_objective = false;
};

const ModelDescription& DescriptionOf(const PolicyModel& model);

}  // namespace weir

#endif  // WEIR_MODEL_DESCRIPTION_H_
