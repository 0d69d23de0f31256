#include "weir/feature_set.h"

#include <string>
#include <vector>

#include "weir/names.h"

namespace weir {

std::optional<Error> CheckFeatures(const FeatureSpecification& features, const FeatureSet& filled,
                                   std::string_view host) {
  std::vector<std::string_view> missing;
  for (const IntervalStatisticsField& field : features.fields) {
    if (!filled.Has(field.name)) missing.push_back(field.name);
  }
  if (missing.empty()) return std::nullopt;
  return Error{"the model cannot be used " + std::string(host) + ", which lacks the model's feature" +
               (missing.size() == 1 ? " " : "s ") + ListNames(missing, " and ")};
}

}  // namespace weir
