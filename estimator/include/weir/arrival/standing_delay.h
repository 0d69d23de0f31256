// Whether a delay stands that did not go when the sender yielded: a longer path, or a queue that others keep full.
#ifndef WEIR_ARRIVAL_STANDING_DELAY_H_
#define WEIR_ARRIVAL_STANDING_DELAY_H_

#include "weir/units.h"

namespace weir {

// Between `OnRise` and the first delay within 10 ms of the base before it, 30 s after the latest rise at most. The two
// causes look alike until the delay goes; on neither does yielding further help.
class StandingDelay {
 public:
  // The base rises from `base` to a level that stayed although the rate fell (`DelayLevel`); less than 30 ms above
  // where the base was before the first such rise does not count.
  void OnRise(Timestamp time, TimeDelta base, TimeDelta level);
  // A packet's delay, on the scale of the base. `time` must not be before that of an earlier call.
  void OnDelay(Timestamp time, TimeDelta delay);

  bool stands() const { return stands_; }

 private:
  bool stands_ = false;
  // Before the first rise.
  TimeDelta base_ = TimeDelta::Zero();
  Timestamp latest_rise_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_STANDING_DELAY_H_
