// The features that a host of policies fills. A host that does not fill all of them refuses a model that needs another:
// the model would decide on that feature's default, whatever happens on the path.
#ifndef WEIR_FEATURE_SET_H_
#define WEIR_FEATURE_SET_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "weir/interval_statistics_fields.h"
#include "weir/model_description.h"
#include "weir/names.h"
#include "weir/result.h"

namespace weir {

class FeatureSet {
 public:
  // All features.
  constexpr FeatureSet() = default;
  // Returns the set without these features. All names are those of kIntervalStatisticsFields.
  consteval FeatureSet Without(std::initializer_list<std::string_view> names) const {
    FeatureSet rest = *this;
    for (const std::string_view name : names) rest.missing_ |= Bit(name);
    return rest;
  }

  constexpr bool Has(std::string_view name) const { return (missing_ & Bit(name)) == 0; }

 private:
  static_assert(kIntervalStatisticsFields.size() <= 64);
  static constexpr uint64_t Bit(std::string_view name) {
    return uint64_t{1} << (FindRow(kIntervalStatisticsFields, name) - kIntervalStatisticsFields.data());
  }

  uint64_t missing_ = 0;
};

// Returns the error that names the features of a model that its host does not fill, if any. `host` completes "the model
// cannot be used ..." and names the host, such as "with statuses of MOCC's interface". Models of the format kMmsys2024
// need packets, and are no concern of this function.
std::optional<Error> CheckFeatures(const FeatureSpecification& features, const FeatureSet& filled,
                                   std::string_view host);

}  // namespace weir

#endif  // WEIR_FEATURE_SET_H_
