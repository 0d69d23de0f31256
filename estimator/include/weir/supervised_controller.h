// The controller of an estimator, with a fallback that decides while it fails.
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

// A limit for hosts in real time: a decision that takes longer than `longest` on `clock` is dropped and counts as a
// fault. Without a clock no decision is late.
struct DecisionLimit {
  std::function<Timestamp()> clock = nullptr;
  TimeDelta longest = TimeDelta::Millis(50);
};

// The state and counters of one polled controller.
struct ControllerState {
  std::string name;
  std::optional<DataRate> rate = std::nullopt;
  int faults_in_a_row = 0;
  int decisions_in_a_row = 0;
  // True while its targets do not count, see SupervisedController.
  bool suspended = false;
  uint64_t decisions = 0;
  uint64_t faults = 0;
};

struct ControllerCounters {
  uint64_t decisions = 0;           // targets of the active controller
  uint64_t faults = 0;              // missing or invalid targets of the active controller
  uint64_t fallback_decisions = 0;  // targets of the fallback in its place
  uint64_t late_decisions = 0;      // late decisions of any controller, see DecisionLimit; each is also a fault
};

// Polls the active controller when it is due, and the fallback. After a fault the rate in force is held. After
// kFaultsToFallback consecutive faults the controller is suspended: it remains active and is polled, but the fallback's
// targets count in place of its own, until it has returned kDecisionsToRecover consecutive valid ones.
class SupervisedController : public ReceiverController {
 public:
  static constexpr int kFaultsToFallback = 3;
  static constexpr int kDecisionsToRecover = 20;

  // Returns a controller that is already supervised unchanged. Null for either stands for the ten-line rule that
  // tolerates sparse packets.
  static std::unique_ptr<SupervisedController> Of(std::unique_ptr<ReceiverController> controller,
                                                  std::unique_ptr<ReceiverController> fallback = nullptr);

  virtual void SetDecisionLimit(DecisionLimit limit) = 0;
  virtual const ControllerState& active() const = 0;
  virtual const ControllerCounters& counters() const = 0;

  // Identifies a class of the library; replaces dynamic_cast.
  virtual const void* kind() const { return nullptr; }
  SupervisedController* AsSupervised() final { return this; }
};

}  // namespace weir

#endif  // WEIR_SUPERVISED_CONTROLLER_H_
