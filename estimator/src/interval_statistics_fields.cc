#include "interval_statistics_fields.h"

namespace weir {

std::string_view ToString(InputScale scale) {
  switch (scale) {
    case InputScale::kUnscaled:
      return "unscaled";
    case InputScale::kRateOverRule:
      return "rate_over_rule";
    case InputScale::kDelay:
      return "delay";
    case InputScale::kCount:
      return "count";
    case InputScale::kTime:
      return "time";
    case InputScale::kSquareRoot:
      return "square_root";
    case InputScale::kGradient:
      return "gradient";
    case InputScale::kLogRatio:
      return "log_ratio";
  }
  return "";
}

std::optional<IntervalStatisticsField> FindIntervalStatisticsField(std::string_view name) {
  for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
    if (field.name == name) return field;
  }
  return std::nullopt;
}

std::string IntervalStatisticsFieldNames() {
  std::string names;
  for (const IntervalStatisticsField& field : kIntervalStatisticsFields) {
    if (!names.empty()) names += ", ";
    names += field.name;
  }
  return names;
}

}  // namespace weir
