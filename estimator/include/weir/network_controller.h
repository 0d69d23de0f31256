// Rate controllers, after libwebrtc's NetworkControllerInterface: one method for each message. A host implements
// ReceiverController or SenderController (weir/sender_controller.h) for an algorithm of its own, and derives from
// IntervalController (weir/interval_controller.h) if it decides at even intervals.
//
// The host calls the methods in the order of time, never concurrently, and reads no result but those of OnTimeout() and
// next_timeout(). The same calls must give the same results, bit for bit: a controller reads no clock and no random
// source. Methods never block or throw. At the receiver, they do not allocate after warm-up.
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

  // Called at any time. Returns the name for results and messages, the same each time.
  virtual std::string_view name() const = 0;

  // Called before any other event, when the call begins at `constraints.at_time`, and again whenever the host changes
  // the bounds. `constraints` are valid (Validated()) and have a finite time, which is now. Every later target must be
  // within the bounds; the start rate matters only at the first call.
  virtual void OnTargetRateConstraints(const TargetRateConstraints& constraints) = 0;
  // Called after the first constraints, and again whenever the application changes the weights. `objective` is
  // normalized. A controller without a trade-off ignores it.
  virtual void OnObjective(const Objective& objective) = 0;
  // Called with each measurement of the host, about once a second, or never. Until then a controller assumes
  // kAssumedRoundTripTime. A controller ignores `update` unless IsRoundTripTime() holds.
  virtual void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) = 0;

  // Called after each event. Returns the time of the next call of the derived class's OnTimeout(), or PlusInfinity if
  // there is none. It may be in the past after an event that needs an answer; after OnTimeout(now) it is after `now`.
  virtual Timestamp next_timeout() const = 0;
};

// A controller at the receiver, which decides from arrivals. BandwidthEstimator is its host: it wraps the controller in
// a SupervisedController and bounds its targets by the guard.
class ReceiverController : public NetworkController {
 public:
  // Called for every valid packet that is not a duplicate, in the order of arrival, from the first OnTimeout() of the
  // estimator on. Lost packets are in `arrival.lost_change` of the next one.
  virtual void OnArrival(const Arrival& arrival) = 0;
  // Called with the rate in force after fusion and guard, after each decision and when the host sets a rate. It may
  // differ from this controller's own target, and the next decision continues from it.
  virtual void OnTargetApplied(const TargetTransferRate& target) = 0;
  // Called at `next_timeout()` or later. Every call returns a target, finite and above 0, even if it is unchanged. A
  // missing, infinite, zero or negative target is a fault: the rate in force stays, and after
  // SupervisedController::kFaultsToFallback in a row the fallback decides. Not a fault: a missing target with the
  // source kUndecided, which means that it follows.
  [[nodiscard]] virtual ReceiverControlUpdate OnTimeout(Timestamp now) = 0;

  // Returns this controller if it is a SupervisedController, else null. Replaces dynamic_cast in builds without RTTI;
  // other controllers do not override it.
  virtual SupervisedController* AsSupervised() { return nullptr; }
};

}  // namespace weir

#endif  // WEIR_NETWORK_CONTROLLER_H_
