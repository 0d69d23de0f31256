#include "weir/policy/training_ranges.h"

#include <cassert>
#include <cstddef>

namespace weir {

double ShareOutside(std::span<const FeatureRange> ranges, std::span<const IntervalStatisticsField> fields,
                    const IntervalStatistics& statistics) {
  if (ranges.empty()) return 0;
  assert(ranges.size() == fields.size());
  int outside = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    const double value = statistics.*fields[i].member;
    outside += static_cast<int>(value < ranges[i].low || value > ranges[i].high);
  }
  return static_cast<double>(outside) / static_cast<double>(fields.size());
}

}  // namespace weir
