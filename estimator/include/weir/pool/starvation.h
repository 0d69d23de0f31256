// Whether a controller starves the path: it will not rise though nothing speaks against it.
#ifndef WEIR_POOL_STARVATION_H_
#define WEIR_POOL_STARVATION_H_

#include <span>

#include "weir/arrival/interval_statistics.h"
#include "weir/pool/time_mean.h"
#include "weir/units.h"

namespace weir {

// For a second there was neither a queue of 20 ms nor a loss of 2 % above what the path loses by chance, the sender
// uses what it may, all others would rise by 2 % or more, and the controller asks for no more than is in force.
class Starvation {
 public:
  // `advice` and `others`, above 0, were given at `now`; `target` was in force during the interval before, of which
  // `statistics` tell. Without others nobody starves anything.
  void Add(DataRate advice, std::span<const DataRate> others, DataRate target, const IntervalStatistics& statistics,
           Timestamp now);
  // Of the last seconds, 0 to 1.
  double share() const { return share_.value(); }

 private:
  Timestamp not_clear_ = Timestamp::MinusInfinity();
  TimeMean share_{3.0};
};

}  // namespace weir

#endif  // WEIR_POOL_STARVATION_H_
