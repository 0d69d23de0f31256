// Rate controllers, after libwebrtc's NetworkControllerInterface.
//
// The host calls the events in the order of time, never concurrently. The same calls give the same results, bit for
// bit. No event blocks, throws or, after warm-up at the receiver, allocates.
#ifndef WEIR_NETWORK_CONTROLLER_H_
#define WEIR_NETWORK_CONTROLLER_H_

#include <string_view>

#include "weir/arrival.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/units.h"

namespace weir {

class SupervisedController;

class NetworkController {
 public:
  virtual ~NetworkController() = default;

  virtual std::string_view name() const = 0;

  // Invoked before any other event, and again whenever the host changes the bounds. `constraints` are valid, with a
  // finite time.
  virtual void OnTargetRateConstraints(const TargetRateConstraints& constraints) = 0;
  virtual void OnObjective(const Objective& objective) = 0;
  virtual void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) = 0;

  // When to call OnTimeout of the derived class next; may be in the past after an event that needs an answer.
  // PlusInfinity: never.
  virtual Timestamp next_timeout() const = 0;
};

// Decides from arrivals.
class ReceiverController : public NetworkController {
 public:
  // Invoked for every valid packet that is not a duplicate.
  virtual void OnArrival(const Arrival& arrival) = 0;
  // Invoked with the rate in force after fusion and guard, which may differ from this controller's own target.
  virtual void OnTargetApplied(const TargetTransferRate& target) = 0;
  // Invoked when `next_timeout()` has come, or later. Every call returns a target, also an unchanged one. A missing,
  // infinite, zero or negative target is a fault; with the source kUndecided a missing one is not: it comes later.
  [[nodiscard]] virtual ReceiverControlUpdate OnTimeout(Timestamp now) = 0;

  // Null unless this is one. In place of dynamic_cast, for builds without RTTI.
  virtual SupervisedController* AsSupervised() { return nullptr; }
};

}  // namespace weir

#endif  // WEIR_NETWORK_CONTROLLER_H_
