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
    : specification_(std::move(specification)),
      interval_fields_(specification_.interval_fields()),
      observation_(specification_.size(), 0.0f) {
  assert(!specification_.fields.empty() && specification_.history >= 1);
}

void FeatureHistory::Add(const IntervalStatistics& statistics) {
  const auto width = static_cast<std::ptrdiff_t>(interval_fields_);
  const auto newest = observation_.begin();
  const auto of_path = observation_.end() - static_cast<std::ptrdiff_t>(specification_.path_fields());
  std::copy_backward(newest, of_path - width, of_path);
  auto value = newest;
  auto path_value = of_path;
  for (const IntervalStatisticsField& field : specification_.fields) {
    *(field.of_path ? path_value : value)++ = static_cast<float>(statistics.*field.member);
  }
  if (std::exchange(begun_, true)) return;
  for (int age = 1; age < specification_.history; ++age) std::copy_n(newest, width, newest + age * width);
}

void FeatureHistory::Clear() {
  std::ranges::fill(observation_, 0.0f);
  begun_ = false;
}

}  // namespace weir
