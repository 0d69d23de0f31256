// Observations of a policy: selected fields of the last intervals, as one row of floats.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_FEATURE_HISTORY_H_
#define WEIR_ESTIMATOR_SRC_POLICY_FEATURE_HISTORY_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "interval_statistics_fields.h"

namespace weir {

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

class FeatureHistory {
 public:
  // Needs at least one field and a history of at least 1.
  explicit FeatureHistory(FeatureSpecification specification);

  const FeatureSpecification& specification() const { return specification_; }
  void Add(const IntervalStatistics& statistics);
  // Missing intervals repeat the oldest one. All zeros before the first.
  std::span<const float> observation() const { return observation_; }
  void Clear();

 private:
  const FeatureSpecification specification_;
  const size_t interval_fields_;
  std::vector<float> observation_;
  bool begun_ = false;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_FEATURE_HISTORY_H_
