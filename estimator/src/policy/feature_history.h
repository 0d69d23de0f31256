// Observations of a policy: selected fields of the last intervals, as one row of floats.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_FEATURE_HISTORY_H_
#define WEIR_ESTIMATOR_SRC_POLICY_FEATURE_HISTORY_H_

#include <cstddef>
#include <span>
#include <vector>

#include "weir/model_description.h"

namespace weir {

class FeatureHistory {
 public:
  // Every history begins with this many intervals without packets, on which no decision is made, so that the first
  // packets have the same history in every call.
  static constexpr int kSilentIntervals = 2;

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
