// The receiver's bandwidth estimator: arrivals in, estimates for REMB out. Only wiring; every part has a file of its
// own.
//
//   OnPacket --> ArrivalStatistics --> ReceiverController --> Guard --> RembThrottle --> OnTimeout's result
#ifndef WEIR_BANDWIDTH_ESTIMATOR_H_
#define WEIR_BANDWIDTH_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "weir/arrival/arrival_statistics.h"
#include "weir/fallback_controller.h"
#include "weir/guard.h"
#include "weir/network_controller.h"
#include "weir/objective.h"
#include "weir/receive_statistics.h"
#include "weir/remb_throttle.h"
#include "weir/units.h"

namespace weir {

// The last stage that changed an estimate.
enum class EstimateReason : uint8_t {
  kStart,        // no controller has decided yet: the start rate
  kPilot,        // the active controller's target
  kCopilot,      // a candidate's target, which fusion preferred
  kFallback,     // the active controller is suspended; the fallback's target
  kHeld,         // the active controller failed just now; the rate in force
  kGuardFinite,  // the guard's rules, see guard.h
  kGuardFloor,
  kGuardBounds,
  kGuardSlew,
  kGuardStale,
  kGuardVeto,
  kGuardPolicer,
};

// "start", "pilot", "copilot", "fallback", "held", "guard_finite", "guard_floor", "guard_bounds", "guard_slew",
// "guard_stale", "guard_veto", "guard_policer".
std::string_view ToString(EstimateReason reason);

struct Estimate {
  // When it came into force.
  Timestamp at_time = Timestamp::MinusInfinity();
  // Within the constraints, and so above 0.
  DataRate target_rate = DataRate::Zero();
  EstimateReason reason = EstimateReason::kStart;
  // See NetworkControlUpdate.
  int path_kind = 0;
};

struct EstimatorCounters {
  // Of all controllers that the estimator has had.
  ControllerCounters controller;
  uint64_t feedbacks = 0;  // estimates returned by OnTimeout
  GuardCounters guard;
  ArrivalCounters arrivals;
};

// For a host's getStats.
struct EstimatorStatistics {
  // In force; W3C's availableIncomingBitrate.
  DataRate target_rate = DataRate::Zero();
  EstimateReason reason = EstimateReason::kStart;
  int path_kind = 0;
  ReceiveStatistics::LastSecond last_second;
  // Since construction.
  ReceiveStatistics::Sums total;
  uint64_t packets_fate_unknown = 0;
  uint64_t clock_restarts = 0;  // see ArrivalCounters
};

// Observes an estimator, for a log of its decisions. Called from within the estimator's own functions; must not call it
// back.
class EstimatorObserver {
 public:
  virtual ~EstimatorObserver() = default;

  // The rate in force from now on: the start rate first, then that of each decision, also where it is the same.
  virtual void OnTarget(const TargetTransferRate& target) = 0;
  // After the first OnTarget: every packet that is not a duplicate, and the round-trip time.
  virtual void OnArrival(const Arrival& arrival) = 0;
  virtual void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) = 0;
};

struct BandwidthEstimatorConfig {
  // Must be valid, see Validated().
  TargetRateConstraints constraints;
  Objective objective;
  // Without it only finiteness and bounds are kept; for training and experiments.
  bool guard = true;
  // Its rules with it. While a policy is trained there are fewer: one that is held up from below learns to lean on
  // that.
  GuardOptions guard_rules = {};
  DecisionLimit decision_limit = {};
};

// The poll contract: the host calls `OnPacket` for each RTP packet and `OnTimeout` when `next_timeout()` has come, and
// sends a REMB whenever the latter returns an estimate. It never calls concurrently, and all times are of one monotonic
// clock. Nothing here reads a clock but that of a DecisionLimit, blocks or, after warm-up, allocates.
//
// The estimator is active from the first OnTimeout; until then `next_timeout()` is MinusInfinity, and packets only
// serve to find the base delay. After each OnTimeout, `next_timeout()` lies after its `now`, whatever the controller
// asks for. The start rate is in force until the first packet: the controller is polled before, since it learns from a
// feedback timeout too, but its targets do not count. After the first packet its next target counts, or after 500 ms
// the latest.
//
// Unless the controller is a FaultTolerantController, such as a PoolController, the estimator wraps it into a
// FallbackController.
class BandwidthEstimator {
 public:
  // Null: the ten-line rule.
  BandwidthEstimator(const BandwidthEstimatorConfig& config, std::unique_ptr<ReceiverController> controller);

  void OnPacket(const PacketArrival& packet);
  // See ArrivalStatistics; both may be called at any time.
  void OnPacketFateUnknown(uint32_t ssrc, uint16_t sequence_number) {
    arrival_statistics_.OnPacketFateUnknown(ssrc, sequence_number);
  }
  void RemoveStream(uint32_t ssrc) { arrival_statistics_.RemoveStream(ssrc); }
  // An estimate exactly when feedback is due now. A `now` that is not after that of the previous call is ignored.
  [[nodiscard]] std::optional<Estimate> OnTimeout(Timestamp now);
  // When to call OnTimeout next; may be in the past after OnPacket or a setter.
  Timestamp next_timeout() const;

  // `objective` comes from NormalizedObjective() or ObjectivePreset().
  void SetObjective(const Objective& objective);
  // The error, with nothing changed, when the constraints are not valid. They come into force at their `at_time`, which
  // is now. The start rate matters only before the first OnTimeout.
  [[nodiscard]] std::optional<Error> SetConstraints(const TargetRateConstraints& constraints);
  // Replaces the controller, also in a call: the new one goes on from the rate in force.
  void SetController(std::unique_ptr<ReceiverController> controller);
  // Ignored unless above 0 and at most a minute.
  void OnRoundTripTime(TimeDelta round_trip_time, Timestamp now);

  // Null: none. The observer outlives this.
  void SetObserver(EstimatorObserver* observer) { observer_ = observer; }

  // The rate in force, whether or not it was fed back yet; the start rate at MinusInfinity before the first OnTimeout.
  const Estimate& latest() const { return latest_; }
  EstimatorCounters counters() const;
  // `now` is what the last second ends at.
  EstimatorStatistics Statistics(Timestamp now) const;
  const FaultTolerantController& controller() const { return *controller_; }
  FaultTolerantController& controller() { return *controller_; }
  // The SSRCs for a REMB, see ArrivalStatistics::Ssrcs().
  size_t Ssrcs(std::span<uint32_t> out) const { return arrival_statistics_.Ssrcs(out); }

 private:
  bool started() const { return now_.IsFinite(); }
  bool any_packets() const { return receive_statistics_.total().packets > 0; }
  void Start(Timestamp now);
  // Hands the call's state to a new controller.
  void StartController(Timestamp now);
  void Decide(Timestamp now);

  TargetRateConstraints constraints_;
  Objective objective_;
  std::optional<RoundTripTimeUpdate> round_trip_time_;

  ArrivalStatistics arrival_statistics_;
  ReceiveStatistics receive_statistics_;
  std::unique_ptr<FaultTolerantController> controller_;
  DecisionLimit decision_limit_;
  // Of the controllers before this one.
  ControllerCounters replaced_;
  // The controller's latest.
  NetworkControlUpdate update_;
  EstimatorObserver* observer_ = nullptr;
  Guard guard_;
  RembThrottle throttle_;

  Timestamp now_ = Timestamp::MinusInfinity();
  // When targets from before the first packet count.
  Timestamp release_ = Timestamp::PlusInfinity();
  Estimate latest_;
  uint64_t feedbacks_ = 0;
};

}  // namespace weir

#endif  // WEIR_BANDWIDTH_ESTIMATOR_H_
