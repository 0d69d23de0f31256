#include "link/jitter_model.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {

JitterModel::JitterModel(const JitterSpec& spec, RandomStream random) : spec_(spec), random_(random) {}

int64_t JitterModel::Delayed(int64_t time_ns) {
  if (spec_.kind == JitterSpec::Kind::kNone) return time_ns;
  const double jitter_ns = std::abs(random_.Gaussian()) * static_cast<double>(spec_.standard_deviation_ns);
  int64_t delayed_ns = time_ns + std::llround(std::min(jitter_ns, static_cast<double>(spec_.maximum_ns)));
  if (!spec_.reorder) delayed_ns = std::max(delayed_ns, last_ns_);
  last_ns_ = delayed_ns;
  return delayed_ns;
}

}  // namespace weir::sim
