#include "weir/arrival/interval_statistics.h"

namespace weir {

std::optional<IntervalStatisticsField> FindIntervalStatisticsField(std::string_view name) {
  for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
    if (field.name == name) return field;
  }
  return std::nullopt;
}

}  // namespace weir
