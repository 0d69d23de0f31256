// Rate controllers, after libwebrtc's NetworkControllerInterface.
//
// The host calls the events in the order of time, never concurrently. The same calls give the same results, bit for
// bit. Events never block or throw. At the receiver, events do not allocate after warm-up.
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

  // Invoked before any other event, and again whenever the host changes the bounds. `constraints` are valid and have a
  // finite time.
  virtual void OnTargetRateConstraints(const TargetRateConstraints& constraints) = 0;
  virtual void OnObjective(const Objective& objective) = 0;
  virtual void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) = 0;

  // Time of the next call of the derived class's OnTimeout. May be in the past after an event that needs an answer.
  // PlusInfinity if there is none.
  virtual Timestamp next_timeout() const = 0;
};

// A controller at the receiver, which decides from arrivals.
class ReceiverController : public NetworkController {
 public:
  // Invoked for every valid packet that is not a duplicate.
  virtual void OnArrival(const Arrival& arrival) = 0;
  // Invoked with the rate in force, after fusion and guard. It may differ from this controller's own target.
  virtual void OnTargetApplied(const TargetTransferRate& target) = 0;
  // Invoked at `next_timeout()` or later. Every call returns a target, even if it is unchanged. A missing, infinite,
  // zero or negative target is a fault, except that a target may be missing with the source kUndecided: it follows.
  [[nodiscard]] virtual ReceiverControlUpdate OnTimeout(Timestamp now) = 0;

  // This controller if it is a SupervisedController, else null. Replaces dynamic_cast in builds without RTTI.
  virtual SupervisedController* AsSupervised() { return nullptr; }
};

}  // namespace weir

#endif  // WEIR_NETWORK_CONTROLLER_H_
