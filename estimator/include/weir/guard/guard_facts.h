// What the guard's rules know at a decision.
#ifndef WEIR_GUARD_GUARD_FACTS_H_
#define WEIR_GUARD_GUARD_FACTS_H_

#include "weir/guard/queue_watch.h"
#include "weir/units.h"

namespace weir {

struct GuardFacts {
  Timestamp now = Timestamp::MinusInfinity();
  // Since the decision before; not negative.
  TimeDelta elapsed = TimeDelta::Zero();
  // In force since the decision before.
  DataRate rate = DataRate::Zero();
  // Of the last second, over slots of at least 200 ms; zero before there is one.
  DataRate highest_receive_rate = DataRate::Zero();
  QueueSign sign = QueueSign::kUnknown;
  // Of the latest packet, see `Arrival`: a delay that did not go when the sender yielded.
  bool delay_stands = false;
  // The first seconds of a call, see `StartPhase`.
  bool starting = false;
};

}  // namespace weir

#endif  // WEIR_GUARD_GUARD_FACTS_H_
