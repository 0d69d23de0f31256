// Queueing delay of packets whose send times are of one clock: one-way delay, less what the clocks drift apart, above
// the path's own.
#ifndef WEIR_ARRIVAL_QUEUEING_DELAY_H_
#define WEIR_ARRIVAL_QUEUEING_DELAY_H_

#include "weir/arrival/base_delay.h"
#include "weir/arrival/clock_skew.h"
#include "weir/arrival/send_clock.h"
#include "weir/units.h"

namespace weir {

class QueueingDelay {
 public:
  struct Result {
    // Never negative.
    TimeDelta queueing_delay;
    // Of one-way delay against the packet before.
    TimeDelta change;
    // The send times have another clock: everything measured before is forgotten.
    bool restarted;
    // `StandingDelay`.
    bool stands;
  };

  // Packets may come a little out of order. `measured` is what the sender's clock has said of the packet, the first
  // one's included; `size` is what came since the packet before, this one included.
  Result Update(Timestamp arrival, const SendClock::Result& measured, DataSize size);

 private:
  ClockSkew skew_;
  // What the clocks have drifted apart; another skew does not change what it has been.
  double drift_us_ = 0;
  BaseDelay base_;
  Timestamp latest_arrival_ = Timestamp::MinusInfinity();
};

}  // namespace weir

#endif  // WEIR_ARRIVAL_QUEUEING_DELAY_H_
