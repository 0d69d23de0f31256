// The guard's veto on what a path shows that it does not carry.
#ifndef WEIR_GUARD_VETO_RULE_H_
#define WEIR_GUARD_VETO_RULE_H_

#include <cstddef>

#include "weir/guard/guard_facts.h"
#include "weir/guard/queue_watch.h"
#include "weir/guard/receive_rate.h"
#include "weir/units.h"

namespace weir {

// While packets wait the path carries what arrives, and no more: the rate is at most 0.95 times what arrived in the
// last 400 ms, so that the queue drains. That holds
//
// - while each packet of the last 25 to 50 ms waited for 60 ms above the noise of the delay (`QueueWatch`), but not
//   while a delay stands that did not go when the sender yielded: beside others who keep the queue full whoever yields
//   has ever less;
// - from the second whole second on in which 30 % more was lost than in the best of the last ten, and four packets or
//   more: loss that comes at any rate is no reason, nor is chance with a sender of few packets.
//
// Chosen among a dozen settings on 400 scenarios of the training split, the families and the traces together.
class VetoRule {
 public:
  // To be called at each decision, with what `watch` and `received` know then; PlusInfinity: no veto.
  DataRate Limit(const GuardFacts& facts, const QueueWatch& watch, const ReceiveRate& received);

 private:
  bool LosesByRate(const QueueWatch& watch);

  // Of the watch.
  size_t seconds_ = 0;
  int losing_seconds_ = 0;
};

}  // namespace weir

#endif  // WEIR_GUARD_VETO_RULE_H_
