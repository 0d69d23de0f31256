#include "program/sender_gcc.h"

#include <string>
#include <vector>

namespace weir {

Result<PoolAtBothEnds> SplitPool(const PoolSpecification& pool) {
  PoolAtBothEnds split{.at_receiver = pool};
  split.sender_has_gcc = std::erase(split.at_receiver.copilots, "gcc") > 0;
  if (pool.pilot == "gcc") return Error{"gcc decides at the sender: it can be a copilot under fusion=min, no pilot"};
  if (split.sender_has_gcc && (pool.fusion != Fusion::Kind::kMin || pool.policy != PilotPolicyKind::kFixed))
    return Error{"gcc decides at the sender, which takes the smaller rate: use fusion=min and policy=fixed with it"};
  return split;
}

}  // namespace weir
