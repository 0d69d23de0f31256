// What a flow may claim on a path whose queue others keep full, for the guard.
#ifndef WEIR_GUARD_COMPETING_FLOWS_H_
#define WEIR_GUARD_COMPETING_FLOWS_H_

#include "weir/guard/queue_watch.h"
#include "weir/units.h"

namespace weir {

// A loss-based TCP keeps the queue full whatever other flows do: who yields to the delay yields for ever (RFC 8836, 2:
// a flow of media must get its share beside TCP). While a delay stands that did not go when the sender yielded, half of
// what the flow once had is its share beside one other flow; of what arrived in the highest second, counted half as
// much for each 100 s since. Not with 5 % of loss in the latest second: then less is due than that.
class CompetingFlows {
 public:
  // To be called with what `watch` has of the latest second; `elapsed` since the call before, not negative.
  void Update(const QueueWatch& watch, TimeDelta elapsed);
  // Zero when there is nothing to claim; `delay_stands` now.
  DataRate Share(bool delay_stands) const;

 private:
  bool loses_ = false;
  double highest_rate_bps_ = 0;
};

}  // namespace weir

#endif  // WEIR_GUARD_COMPETING_FLOWS_H_
