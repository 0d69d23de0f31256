// Whoever watches an estimator and has no say in it: a log of its decisions, say.
#ifndef WEIR_ESTIMATOR_OBSERVER_H_
#define WEIR_ESTIMATOR_OBSERVER_H_

#include "weir/arrival.h"
#include "weir/network_control.h"
#include "weir/units.h"

namespace weir {

// Called from within the estimator's own functions; must not call it back.
class EstimatorObserver {
 public:
  virtual ~EstimatorObserver() = default;

  // The rate in force from now on: the start rate first, then that of each decision, also where it is the same.
  virtual void OnTarget(DataRate target, Timestamp now) = 0;
  // From the first OnTarget on: every packet that is not a duplicate, and the round-trip time.
  virtual void OnArrival(const Arrival& arrival) = 0;
  virtual void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_OBSERVER_H_
