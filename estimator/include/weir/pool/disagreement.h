// How far a controller's advice is from that of all others.
#ifndef WEIR_POOL_DISAGREEMENT_H_
#define WEIR_POOL_DISAGREEMENT_H_

#include <span>

#include "weir/pool/time_mean.h"
#include "weir/units.h"

namespace weir {

class Disagreement {
 public:
  // `advice` and `others` held for the last `duration_s`; all finite and above 0. Without others nothing is known and
  // nothing changes.
  void Add(DataRate advice, std::span<const DataRate> others, double duration_s);
  // By how many powers of two the advice was above or below the nearest of the others', as a mean over the last second;
  // 0 while it is among them.
  double powers_of_two() const { return distance_.value(); }

 private:
  TimeMean distance_{1.0};
};

}  // namespace weir

#endif  // WEIR_POOL_DISAGREEMENT_H_
