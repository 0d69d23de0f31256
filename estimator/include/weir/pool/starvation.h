// Whether a controller starves the path: it will not rise though nothing speaks against it.
#ifndef WEIR_POOL_STARVATION_H_
#define WEIR_POOL_STARVATION_H_

#include <span>

#include "weir/interval_statistics.h"
#include "weir/pool/time_mean.h"
#include "weir/units.h"

namespace weir {

// For half a second there was neither a queue nor a loss of 2 % above what the path loses by chance, the sender uses
// what it may, all others would rise by 2 % or more, and the controller asks for no more than is in force. There is no
// queue when a delay of the last half second was below 4 ms and 1.5 times the delay noise (40 ms at most): on a link
// that is full some milliseconds always wait, and who does not rise there is right. Jitter hides an empty queue, and
// what others would do, for some intervals; so one of half a second that shows it is enough.
class Starvation {
 public:
  // `advice` and `others`, above 0, were given at `now`; `target` was in force during the interval before, of which
  // `statistics` tell. Without others nobody starves anything.
  void Add(DataRate advice, std::span<const DataRate> others, DataRate target, const IntervalStatistics& statistics,
           Timestamp now);
  // Of the last seconds, 0 to 1.
  double share() const { return share_.value(); }

 private:
  Timestamp queue_was_short_ = Timestamp::MinusInfinity();
  Timestamp others_rose_ = Timestamp::MinusInfinity();
  Timestamp not_clear_ = Timestamp::MinusInfinity();
  TimeMean share_{2.0};
};

}  // namespace weir

#endif  // WEIR_POOL_STARVATION_H_
