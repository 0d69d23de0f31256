// Pools in which the sender's GCC takes part. It cannot join the receiver's pool, but a sender that negotiated
// transport-cc has its own GCC beside REMB and takes the smaller of both, unmodified browsers too: so "gcc" is a
// copilot under `min`, and all that a receiver does about it is to leave transport-cc in its answer.
#ifndef WEIR_PROGRAMS_SENDER_GCC_H_
#define WEIR_PROGRAMS_SENDER_GCC_H_

#include <string>
#include <vector>

#include "pool/pool_specification.h"
#include "weir/result.h"

namespace weir {

struct PoolAtBothEnds {
  PoolSpecification at_receiver;
  bool sender_has_gcc = false;
};

// The error when "gcc" is the pilot, or a copilot under anything but fusion=min and policy=fixed.
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
