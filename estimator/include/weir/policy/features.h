// What a policy sees: chosen fields of the last few intervals, as one row of floats.
#ifndef WEIR_POLICY_FEATURES_H_
#define WEIR_POLICY_FEATURES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "weir/arrival/interval_statistics.h"

namespace weir {

struct FeatureSpecification {
  std::vector<IntervalStatisticsField> fields;
  // How many intervals, the newest included; at least 1.
  int history = 1;

  size_t size() const { return fields.size() * static_cast<size_t>(history); }
};

class FeatureHistory {
 public:
  // Needs at least one field and a history of at least 1.
  explicit FeatureHistory(FeatureSpecification specification);

  const FeatureSpecification& specification() const { return specification_; }
  // Length of an observation: fields times history.
  size_t size() const { return specification_.size(); }

  void Add(const IntervalStatistics& statistics);
  // Newest interval first, its fields in the specified order. Missing history is the oldest known record repeated; all
  // zeros before the first. `observation` must have `size()` elements.
  void Write(std::span<float> observation) const;
  void Clear();

 private:
  FeatureSpecification specification_;
  // A ring of `history` records of `fields` values.
  std::vector<float> values_;
  size_t newest_ = 0;
  size_t known_ = 0;
};

}  // namespace weir

#endif  // WEIR_POLICY_FEATURES_H_
