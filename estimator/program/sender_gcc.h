// Pools in which the sender's GCC takes part. It cannot join the receiver's pool, but a sender that negotiated
// transport-cc has its own GCC beside REMB and takes the smaller of both, unmodified browsers too: so "gcc" is a
// copilot under `min`, and all that a receiver does about it is to leave transport-cc in its answer.
#ifndef WEIR_PROGRAM_SENDER_GCC_H_
#define WEIR_PROGRAM_SENDER_GCC_H_

#include "weir/pool/pool_specification.h"
#include "weir/result.h"

namespace weir {

struct PoolAtBothEnds {
  PoolSpecification at_receiver;
  bool sender_has_gcc = false;
};

// The error when "gcc" is the pilot, or a copilot under anything but fusion=min and policy=fixed.
Result<PoolAtBothEnds> SplitPool(const PoolSpecification& pool);

}  // namespace weir

#endif  // WEIR_PROGRAM_SENDER_GCC_H_
