#include <cmath>
#include <vector>

#include "fuzz_targets.h"
#include "policy/policy.h"

namespace weir::fuzz {

void FuzzModel(std::span<const uint8_t> bytes) {
  const auto policy = Policy::Load(std::as_bytes(bytes));
  if (!policy) {
    WEIR_FUZZ_CHECK(policy.error().size() > 20);
    return;
  }
  const ModelDescription& description = policy.value()->description();
  const std::vector<float> observation(description.observation_size, 1.0f);
  std::vector<float> action(description.action_size, 0.0f);
  for (int i = 0; i < 3; ++i) {
    if (policy.value()->Run(observation, kBalanced, action) != PolicyFault::kNone) continue;
    for (const float value : action) WEIR_FUZZ_CHECK(std::isfinite(value));
  }
}

}  // namespace weir::fuzz
