#include "saturation.h"

#include <algorithm>
#include <cstddef>

#include "weir/arrival/interval_statistics.h"
#include "weir/policy/mmsys_features.h"

namespace weir::internal {

std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description) {
  // Feature and range of every element.
  std::vector<size_t> feature(description.observation_size);
  std::vector<FeatureRange> range(description.observation_size);
  const std::vector<IntervalStatisticsField>& fields = description.features.fields;
  size_t features = MmsysFeatures::kFeatures;
  if (description.format == ModelFormat::kWeir1) features = fields.size();
  for (size_t i = 0; i < feature.size(); ++i) {
    if (description.format == ModelFormat::kWeir1) {
      const auto is_this = [name = description.features.at(i).name](const auto& field) { return field.name == name; };
      feature[i] = static_cast<size_t>(std::find_if(fields.begin(), fields.end(), is_this) - fields.begin());
      range[i] = fields[feature[i]].quantity.load_check;
    } else {
      feature[i] = i / (feature.size() / features);
      range[i] = kMmsysFeatures[feature[i]].load_check;
    }
  }
  std::vector<std::vector<float>> observations(features + 2, std::vector<float>(feature.size(), 0.0f));
  for (size_t i = 0; i < feature.size(); ++i) {
    observations[0][i] = static_cast<float>(range[i].high);
    observations[1][i] = static_cast<float>(range[i].low);
    observations[2 + feature[i]][i] = static_cast<float>(range[i].high);
  }
  return observations;
}

}  // namespace weir::internal
