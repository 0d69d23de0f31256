// What the guard does not let a rate sink below.
#ifndef WEIR_GUARD_FLOOR_RULE_H_
#define WEIR_GUARD_FLOOR_RULE_H_

#include "weir/guard/competing_flows.h"
#include "weir/guard/guard_facts.h"
#include "weir/guard/packet_rhythm.h"
#include "weir/guard/queue_watch.h"
#include "weir/units.h"

namespace weir {

// While the path shows no queue (`QueueWatch`), T, the rate in force, may not sink below the smaller of
// T 0.97^(dt / 100 ms) and the highest receive rate of the last ten seconds. Such a path has room for what it just
// carried; a policy that starves it is held up, one that looks for the right rate by small steps is free.
//
// - On a path with loss by chance or jitter, where policies may be stuck, when there was no queue for more than half of
//   the last three seconds, it is T 1.01^(dt / 100 ms) and 1.1 times that receive rate: GCC too grows by 8 % a second
//   while nothing speaks against it.
// - While a call starts, T may not stay below what `SlewRule` allows later either.
// - It does not sink at all where few packets are sent and do not wait: the present gap has not lasted as long as the
//   last three together, and the latest packet found no queue and was not preceded by loss.
// - Beside flows that keep the queue full it is at least the smaller of T 1.03^(dt / 100 ms) and the flow's share
//   (`CompetingFlows`), queue or not.
class FloorRule {
 public:
  // To be called at each decision, with what `watch` and `rhythm` know at `facts.now`; zero: none.
  DataRate Limit(const GuardFacts& facts, const QueueWatch& watch, const PacketRhythm& rhythm);

 private:
  // Of the time, as an exponential mean over 3 s.
  double share_without_queue_ = 0;
  CompetingFlows competing_flows_;
};

}  // namespace weir

#endif  // WEIR_GUARD_FLOOR_RULE_H_
