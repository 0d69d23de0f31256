#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

#include "policy/mmsys_features.h"
#include "policy/model_checks.h"
#include "weir/interval_statistics_fields.h"

namespace weir::internal {
namespace {

struct Element {
  size_t feature = 0;
  FeatureRange range;
};

size_t Features(const ModelDescription& description) {
  return description.format == ModelFormat::kWeir1 ? description.features.fields.size() : MmsysFeatures::kFeatures;
}

// Feature and range of every element of an observation.
std::vector<Element> Elements(const ModelDescription& description) {
  std::vector<Element> elements(description.observation_size);
  const std::vector<IntervalStatisticsField>& fields = description.features.fields;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (description.format == ModelFormat::kWeir1) {
      const auto field = std::ranges::find(fields, description.features.at(i).name, &IntervalStatisticsField::name);
      elements[i] = {static_cast<size_t>(field - fields.begin()), field->quantity.load_check};
    } else {
      const size_t feature = i / (elements.size() / MmsysFeatures::kFeatures);
      elements[i] = {feature, kMmsysFeatures[feature].load_check};
    }
  }
  return elements;
}

}  // namespace

std::vector<std::vector<float>> SaturatedObservations(const ModelDescription& description) {
  const std::vector<Element> elements = Elements(description);
  std::vector<std::vector<float>> observations(Features(description) + 2, std::vector<float>(elements.size(), 0.0f));
  for (size_t i = 0; i < elements.size(); ++i) {
    observations[0][i] = static_cast<float>(elements[i].range.high);
    observations[1][i] = static_cast<float>(elements[i].range.low);
    observations[2 + elements[i].feature][i] = static_cast<float>(elements[i].range.high);
  }
  return observations;
}

std::vector<std::vector<float>> RandomObservations(const ModelDescription& description, int count) {
  const std::vector<Element> elements = Elements(description);
  std::mt19937 random(1);
  std::vector<std::vector<float>> observations;
  for (int i = 0; i < count; ++i) {
    std::vector<float>& observation = observations.emplace_back();
    for (const auto& [feature, range] : elements) {
      // From 0 to 1, mostly small, because ranges span many orders of magnitude.
      const double share = std::pow(static_cast<double>(random()) / std::mt19937::max(), 10.0);
      observation.push_back(static_cast<float>(range.low + (range.high - range.low) * share));
    }
  }
  return observations;
}

}  // namespace weir::internal
