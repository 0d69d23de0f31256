// Pools that include the sender's GCC, which cannot run at the receiver. A sender that negotiated transport-cc, such as
// an unmodified browser, runs its own GCC and uses the smaller of its target and REMB. So "gcc" is a copilot under
// `min`, and the receiver only keeps transport-cc in its answer.
#ifndef WEIR_PROGRAMS_SENDER_GCC_H_
#define WEIR_PROGRAMS_SENDER_GCC_H_

#include <string>
#include <vector>

#include "weir/pool_specification.h"
#include "weir/result.h"

namespace weir {

struct PoolAtBothEnds {
  PoolSpecification at_receiver;
  bool sender_has_gcc = false;
};

// Returns an error if "gcc" is the pilot, or a copilot under anything but fusion=min and policy=fixed.
inline Result<PoolAtBothEnds> SplitPool(const PoolSpecification& pool) {
  PoolAtBothEnds split{.at_receiver = pool};
  split.sender_has_gcc = std::erase(split.at_receiver.copilots, "gcc") > 0;
  if (pool.pilot == "gcc") return Error{"gcc decides at the sender: it can be a copilot under fusion=min, no pilot"};
  if (split.sender_has_gcc && (pool.fusion != FusionKind::kMin || pool.policy != PilotPolicyKind::kFixed))
    return Error{"gcc decides at the sender, which takes the smaller rate: use fusion=min and policy=fixed with it"};
  return split;
}

}  // namespace weir

#endif  // WEIR_PROGRAMS_SENDER_GCC_H_
