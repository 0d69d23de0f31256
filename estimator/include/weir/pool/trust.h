// How far each member of a pool is to be trusted, from what it did.
#ifndef WEIR_POOL_TRUST_H_
#define WEIR_POOL_TRUST_H_

#include <span>

#include "weir/pool/disagreement.h"
#include "weir/pool/pilot_policy.h"
#include "weir/pool/pool_specification.h"
#include "weir/pool/starvation.h"
#include "weir/pool/time_mean.h"

namespace weir {

// Trust is as much as the worst of its signals allows, each 1 up to a first value and 0 from a second on, linear
// between them. Of the line's pilot only:
//   disagreement  1 to 1.5 powers of two away from all others (`Disagreement`)
//   starvation    0.3 to 0.8 of the last seconds (`Starvation`)
//   unfamiliarity 0.25 to 0.32 of the features outside what they were in training, as a mean over 3 s; 5 of the shipped
//                 model's 19 are, 0.26, where a path is only faster than any in training
// The values were fitted on random scenarios of the training split; `weir experiment trust` judges them on others.
class TrustMeasure {
 public:
  // Without those that are not among `signals`.
  explicit TrustMeasure(TrustSignals signals = kAllTrustSignals) : signals_(signals) {}

  // Sets the `trust` of the line's pilot, 0 to 1, each time before the policy is asked; `view.members` are the same.
  void Update(const PoolView& view, std::span<MemberState> members);

 private:
  double OfPilot(const PoolView& view);
  bool Counts(TrustSignal signal) const { return (signals_ & SetOf(signal)) != 0; }

  TrustSignals signals_;
  Disagreement disagreement_;
  Starvation starvation_;
  TimeMean outside_training_{3.0};
};

}  // namespace weir

#endif  // WEIR_POOL_TRUST_H_
