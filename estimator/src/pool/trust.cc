#include "weir/pool/trust.h"

#include <algorithm>

namespace weir {

void TrustMeasure::Update(const PoolView&, std::span<MemberState> members) {
  for (MemberState& member : members) {
    member.trust = member.suspended ? 0.0 : std::max(0.0, 1.0 - member.faults_in_a_row / 3.0);
  }
}

}  // namespace weir
