#include "weir/policy/features.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace weir {

FeatureHistory::FeatureHistory(FeatureSpecification specification) : specification_(std::move(specification)) {
  assert(!specification_.fields.empty() && specification_.history >= 1);
  values_.assign(specification_.size(), 0.0f);
}

void FeatureHistory::Add(const IntervalStatistics& statistics) {
  const auto history = static_cast<size_t>(specification_.history);
  newest_ = (newest_ + 1) % history;
  known_ = std::min(known_ + 1, history);
  float* value = values_.data() + newest_ * specification_.fields.size();
  for (const IntervalStatisticsField& field : specification_.fields) {
    *value++ = static_cast<float>(statistics.*field.member);
  }
}

void FeatureHistory::Write(std::span<float> observation) const {
  assert(observation.size() == size());
  const auto history = static_cast<size_t>(specification_.history);
  const size_t fields = specification_.fields.size();
  for (size_t age = 0; age < history; ++age) {
    // With nothing known every record is still zero.
    const size_t known_age = known_ == 0 ? 0 : std::min(age, known_ - 1);
    const size_t record = (newest_ + history - known_age) % history;
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(record * fields), fields,
                observation.begin() + static_cast<std::ptrdiff_t>(age * fields));
  }
}

void FeatureHistory::Clear() {
  std::fill(values_.begin(), values_.end(), 0.0f);
  newest_ = 0;
  known_ = 0;
}

}  // namespace weir
