// How far each member of a pool is to be trusted, from what it did.
#ifndef WEIR_POOL_TRUST_H_
#define WEIR_POOL_TRUST_H_

#include <span>

#include "weir/pool/pilot_policy.h"

namespace weir {

// Sets the `trust` of all members, 0 to 1, each time before the policy is asked; `view.members` are the same. For now
// by faults alone: each in a row takes a third, and who is suspended has none.
class TrustMeasure {
 public:
  void Update(const PoolView& view, std::span<MemberState> members);
};

}  // namespace weir

#endif  // WEIR_POOL_TRUST_H_
