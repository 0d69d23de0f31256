#include "weir/pool/disagreement.h"

#include <algorithm>
#include <cmath>

namespace weir {

void Disagreement::Add(DataRate advice, std::span<const DataRate> others, double duration_s) {
  if (others.empty()) return;
  const auto [lowest, highest] = std::ranges::minmax(others);
  distance_.Add(std::abs(std::log2(advice / std::clamp(advice, lowest, highest))), duration_s);
}

}  // namespace weir
