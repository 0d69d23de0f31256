// The controller of an estimator, with a fallback for the time in which it fails.
#ifndef WEIR_SUPERVISED_CONTROLLER_H_
#define WEIR_SUPERVISED_CONTROLLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "weir/network_controller.h"
#include "weir/units.h"

namespace weir {

// A decision that takes longer than `longest` by `clock` is dropped and counts as a fault; for hosts in real time.
// Without a clock no decision is late.
struct DecisionLimit {
  std::function<Timestamp()> clock = nullptr;
  TimeDelta longest = TimeDelta::Millis(50);
};

// The record of one polled controller.
struct ControllerState {
  std::string name;
  std::optional<DataRate> rate = std::nullopt;
  int faults_in_a_row = 0;
  int decisions_in_a_row = 0;
  // Its targets do not count, see SupervisedController.
  bool suspended = false;
  uint64_t decisions = 0;
  uint64_t faults = 0;
};

struct ControllerCounters {
  uint64_t decisions = 0;           // targets of the active controller
  uint64_t faults = 0;              // its missing or invalid targets
  uint64_t fallback_decisions = 0;  // targets of the fallback in its place
  uint64_t late_decisions = 0;      // of any controller, see DecisionLimit; each is a fault too
};

// Polls the active controller when it is due, and the fallback. At a fault the rate in force is held. After
// kFaultsToFallback faults in a row the controller is suspended: it is still active and polled, and the fallback's
// targets count in place of its own, until it has given kDecisionsToRecover valid ones in a row.
class SupervisedController : public ReceiverController {
 public:
  static constexpr int kFaultsToFallback = 3;
  static constexpr int kDecisionsToRecover = 20;

  // Null for either: the ten-line rule, tolerant of sparse packets. A controller that is supervised stays as it is.
  static std::unique_ptr<SupervisedController> Of(std::unique_ptr<ReceiverController> controller,
                                                  std::unique_ptr<ReceiverController> fallback = nullptr);

  virtual void SetDecisionLimit(DecisionLimit limit) = 0;
  virtual const ControllerState& active() const = 0;
  virtual const ControllerCounters& counters() const = 0;

  // Identifies a class of the library's own; in place of dynamic_cast.
  virtual const void* kind() const { return nullptr; }
  SupervisedController* AsSupervised() final { return this; }
};

}  // namespace weir

#endif  // WEIR_SUPERVISED_CONTROLLER_H_
