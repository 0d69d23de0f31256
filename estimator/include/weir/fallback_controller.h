// Controllers that go on when a controller inside them fails.
#ifndef WEIR_FALLBACK_CONTROLLER_H_
#define WEIR_FALLBACK_CONTROLLER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/network_controller.h"

namespace weir {

// For hosts in real time: a decision that takes longer than `longest` by `clock` is dropped and counts as a fault.
// Without a clock no decision is late, and the same calls give the same results.
struct DecisionLimit {
  std::function<Timestamp()> clock = nullptr;
  TimeDelta longest = TimeDelta::Millis(50);
};

// The record of one polled controller.
struct MemberState {
  std::string name;
  // Its latest target.
  std::optional<DataRate> rate = std::nullopt;
  int path_kind = 0;
  int faults_in_a_row = 0;
  int decisions_in_a_row = 0;
  // After kFaultsToFallback faults in a row, until kDecisionsToRecover targets in a row: its targets do not count.
  bool suspended = false;
  // 0 to 1, see TrustMeasure; 1 for all but the specification's pilot, and under a fixed policy.
  double trust = 1;
  uint64_t decisions = 0;
  uint64_t decisions_as_pilot = 0;
  uint64_t faults = 0;
};

struct ControllerCounters {
  uint64_t decisions = 0;           // targets of the active controller
  uint64_t faults = 0;              // its missing or invalid targets
  uint64_t fallback_decisions = 0;  // targets of the fallback in its place
  uint64_t pilot_changes = 0;       // times the policy changed the active controller
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

  void SetDecisionLimit(DecisionLimit limit) { decision_limit_ = std::move(limit); }
  const ControllerCounters& counters() const { return counters_; }
  // In the order in which they were given.
  std::span<const MemberState> members() const { return members_; }
  // The active controller.
  virtual const MemberState& pilot() const = 0;

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective& objective) override;
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(const TargetTransferRate& target) override;
  Timestamp next_timeout() const override;

 protected:
  // Null for `fallback`: the ten-line rule, tolerant of sparse packets.
  explicit FaultTolerantController(std::unique_ptr<ReceiverController> fallback);

  void AddMember(std::string name, std::unique_ptr<ReceiverController> controller);
  const ReceiverController& controller(size_t member) const { return *controllers_[member + 1]; }
  // Polls a member that is due; false when it is not.
  bool Poll(size_t member, bool is_pilot, Timestamp now);
  // True when the fallback decided and the pilot is suspended.
  bool PollFallback(Timestamp now);
  // The pilot's target, or the fallback's in its place; `source` says which.
  NetworkControlUpdate PilotUpdate(Timestamp now) const;

  std::vector<MemberState> members_;
  ControllerCounters counters_;

 private:
  std::optional<DataRate> PollTarget(ReceiverController& controller, Timestamp now, int& path_kind);

  // The fallback, then the members'.
  std::vector<std::unique_ptr<ReceiverController>> controllers_;
  std::optional<DataRate> fallback_rate_;
  DecisionLimit decision_limit_;
};

// One controller with its fallback.
class FallbackController final : public FaultTolerantController {
 public:
  // Null for either: the ten-line rule, tolerant of sparse packets.
  explicit FallbackController(std::unique_ptr<ReceiverController> controller,
                              std::unique_ptr<ReceiverController> fallback = nullptr);

  std::string_view name() const override { return pilot().name; }
  const MemberState& pilot() const override { return members_[0]; }
  NetworkControlUpdate OnTimeout(Timestamp now) override;
};

}  // namespace weir

#endif  // WEIR_FALLBACK_CONTROLLER_H_
