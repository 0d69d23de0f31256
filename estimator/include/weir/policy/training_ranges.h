// How far what a model sees lies outside what it was trained on.
#ifndef WEIR_POLICY_TRAINING_RANGES_H_
#define WEIR_POLICY_TRAINING_RANGES_H_

#include <span>

#include "weir/interval_statistics.h"

namespace weir {

// The share of `fields` whose value in `statistics` lies outside its range, 0 to 1; `ranges` has one for each field, in
// their order, or none: then nothing is known, and the share is 0.
double ShareOutside(std::span<const FeatureRange> ranges, std::span<const IntervalStatisticsField> fields,
                    const IntervalStatistics& statistics);

}  // namespace weir

#endif  // WEIR_POLICY_TRAINING_RANGES_H_
