#include "policy/feature_history.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace weir {

const IntervalStatisticsField& FeatureSpecification::at(size_t element) const {
  assert(element < size());
  const size_t of_history = interval_fields() * static_cast<size_t>(history);
  const bool of_path = element >= of_history;
  size_t index = of_path ? element - of_history : element % interval_fields();
  for (const IntervalStatisticsField& field : fields) {
    if (field.of_path == of_path && index-- == 0) return field;
  }
  return fields.front();
}

FeatureHistory::FeatureHistory(FeatureSpecification specification)
    : specification_(std::move(specification)), interval_fields_(specification_.interval_fields()) {
  assert(!specification_.fields.empty() && specification_.history >= 1);
  values_.assign(interval_fields_ * static_cast<size_t>(specification_.history), 0.0f);
  path_values_.assign(specification_.path_fields(), 0.0f);
}

void FeatureHistory::Add(const IntervalStatistics& statistics) {
  const auto history = static_cast<size_t>(specification_.history);
  newest_ = (newest_ + 1) % history;
  known_ = std::min(known_ + 1, history);
  float* value = values_.data() + newest_ * interval_fields_;
  float* path_value = path_values_.data();
  for (const IntervalStatisticsField& field : specification_.fields) {
    *(field.of_path ? path_value : value)++ = static_cast<float>(statistics.*field.member);
  }
}

void FeatureHistory::Write(std::span<float> observation) const {
  assert(observation.size() == size());
  const auto history = static_cast<size_t>(specification_.history);
  for (size_t age = 0; age < history; ++age) {
    // With nothing known every record is still zero.
    const size_t known_age = known_ == 0 ? 0 : std::min(age, known_ - 1);
    const size_t record = (newest_ + history - known_age) % history;
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(record * interval_fields_), interval_fields_,
                observation.begin() + static_cast<std::ptrdiff_t>(age * interval_fields_));
  }
  std::copy(path_values_.begin(), path_values_.end(), observation.end() - std::ssize(path_values_));
}

void FeatureHistory::Clear() {
  std::fill(values_.begin(), values_.end(), 0.0f);
  std::fill(path_values_.begin(), path_values_.end(), 0.0f);
  newest_ = 0;
  known_ = 0;
}

}  // namespace weir
