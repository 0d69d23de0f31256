// Whether a delay stands that did not go when the sender yielded: a longer path, or a queue that others keep full.
#ifndef WEIR_ARRIVAL_STANDING_DELAY_H_
#define WEIR_ARRIVAL_STANDING_DELAY_H_

#include "weir/units.h"

namespace weir {

// From `OnRise` on, until the delay is within 10 ms of the base before it, or 150 ms above the new one: then there may
// be a queue of our own as well, and only another rise, after which the sender has yielded again, tells. For 30 s after
// the latest rise at most. The two causes look alike; on neither does yielding further help.
class StandingDelay {
 public:
  // The base rises from `base` to a level that stayed although the rate fell (`DelayLevel`); less than 30 ms above
  // where the base was before the first such rise does not count.
  void OnRise(Timestamp time, TimeDelta base, TimeDelta level);
  // A packet's delay, and the base, on one scale. `time` must not be before that of an earlier call.
  void OnDelay(Timestamp time, TimeDelta delay, TimeDelta base);

  bool stands() const { return stands_; }

 private:
  bool stands_ = false;
  // Before the first rise.
  TimeDelta base_ = TimeDelta::Zero();
  Timestamp latest_rise_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_STANDING_DELAY_H_
