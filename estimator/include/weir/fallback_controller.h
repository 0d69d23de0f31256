// Controllers that continue when a controller inside them fails.
#ifndef WEIR_FALLBACK_CONTROLLER_H_
#define WEIR_FALLBACK_CONTROLLER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "weir/network_controller.h"

namespace weir {

class PoolController;

// A decision that takes longer than `longest` by `clock` is dropped and counts as a fault; for hosts in real time.
// Without a clock no decision is late.
struct DecisionLimit {
  std::function<Timestamp()> clock = nullptr;
  TimeDelta longest = TimeDelta::Millis(50);
};

// The record of one polled controller.
struct MemberState {
  std::string name;
  std::optional<DataRate> rate = std::nullopt;
  int faults_in_a_row = 0;
  int decisions_in_a_row = 0;
  // Its targets do not count, see FaultTolerantController.
  bool suspended = false;
  // 0 to 1; 1 outside a pool, see PilotPolicyKind::kByTrust.
  double trust = 1;
  uint64_t decisions = 0;
  uint64_t decisions_as_active = 0;
  uint64_t faults = 0;
};

struct ControllerCounters {
  uint64_t decisions = 0;           // targets of the active controller
  uint64_t faults = 0;              // its missing or invalid targets
  uint64_t fallback_decisions = 0;  // targets of the fallback in its place
  uint64_t active_changes = 0;      // times a pool's policy changed the active controller
  uint64_t fusion_faults = 0;       // rates of a custom fusion that were outside those that it fused
  uint64_t late_decisions = 0;      // of any controller, see DecisionLimit; each is a fault too
};

// Polls one or more controllers, each when it is due, and a fallback. At a fault of the active controller the rate in
// force is held; after kFaultsToFallback faults in a row the controller is suspended and the fallback decides. A
// suspended controller is still polled, and decides again after kDecisionsToRecover valid targets in a row.
class FaultTolerantController : public ReceiverController {
 public:
  static constexpr int kFaultsToFallback = 3;
  static constexpr int kDecisionsToRecover = 20;

  virtual void SetDecisionLimit(DecisionLimit limit) = 0;
  virtual const ControllerCounters& counters() const = 0;
  virtual std::span<const MemberState> members() const = 0;
  // The active controller.
  virtual const MemberState& active() const = 0;

  FaultTolerantController* AsFaultTolerant() final { return this; }
  // As AsFaultTolerant().
  virtual PoolController* AsPool() { return nullptr; }
  virtual const PoolController* AsPool() const { return nullptr; }
};

// One controller with its fallback. Null for either: the ten-line rule, tolerant of sparse packets.
std::unique_ptr<FaultTolerantController> MakeFallbackController(std::unique_ptr<ReceiverController> controller,
                                                                std::unique_ptr<ReceiverController> fallback = nullptr);

}  // namespace weir

#endif  // WEIR_FALLBACK_CONTROLLER_H_
