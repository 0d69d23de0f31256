// The receiver's bandwidth estimator: arrivals in, estimates for REMB out. Only wiring; every part has a file of its
// own.
//
//   OnPacket --> ArrivalStatistics --> ArrivalHistory --> ReceiverController --> Guard --> OnTimeout's result
#ifndef WEIR_BANDWIDTH_ESTIMATOR_H_
#define WEIR_BANDWIDTH_ESTIMATOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "weir/arrival.h"
#include "weir/fallback_controller.h"
#include "weir/guard.h"
#include "weir/network_controller.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

class ArrivalHistory;

// The last stage that changed an estimate.
enum class EstimateReason : uint8_t {
  kStart,     // no controller has decided yet: the start rate
  kPilot,     // the active controller's target
  kCopilot,   // a candidate's target, which fusion preferred
  kFallback,  // the active controller is suspended; the fallback's target
  kHeld,      // the active controller failed just now; the rate in force
  kGuard,     // and above: kGuard + i is the rule GuardRules()[i], see guard.h
};

// "start", "pilot", "copilot", "fallback", "held", or "guard_" and the name of a rule; zero-terminated.
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
  GuardCounters guard{};
  ArrivalCounters arrivals;
};

// For a host's getStats.
struct EstimatorStatistics {
  // In force; W3C's availableIncomingBitrate.
  DataRate target_rate = DataRate::Zero();
  EstimateReason reason = EstimateReason::kStart;
  int path_kind = 0;
  LastSecond last_second;
  // Since construction.
  ArrivalTotals total;
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

// The poll contract: the host calls `OnPacket` for each RTP packet and `OnTimeout` when `next_timeout()` has come;
// RembSender decides when the estimate in force is sent. The host never calls concurrently, and all times are of one
// monotonic clock. Nothing here reads a clock but that of a DecisionLimit, blocks or, after warm-up, allocates.
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
  BandwidthEstimator(BandwidthEstimator&&) noexcept;
  BandwidthEstimator& operator=(BandwidthEstimator&&) noexcept;
  ~BandwidthEstimator();

  void OnPacket(const PacketArrival& packet);
  // The packet was sent and may or may not have arrived, for example because the feedback about it was lost: neither
  // received nor lost. To be called before the next packet of the stream; no effect for an unknown stream.
  void OnPacketFateUnknown(uint32_t ssrc, uint16_t sequence_number);
  // The stream has ended, as RTCP BYE or signalling reports; it may begin again.
  void RemoveStream(uint32_t ssrc);
  // The estimate in force when its target or reason differs from the estimate returned last. A `now` that is not after
  // that of the previous call is ignored.
  std::optional<Estimate> OnTimeout(Timestamp now);
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

  // The estimate in force; the start rate at MinusInfinity before the first OnTimeout.
  const Estimate& latest() const { return latest_; }
  EstimatorCounters counters() const;
  // `now` is what the last second ends at.
  EstimatorStatistics Statistics(Timestamp now) const;
  const FaultTolerantController& controller() const { return *controller_; }
  FaultTolerantController& controller() { return *controller_; }
  // Writes the SSRCs of the streams that have not ended, the most recently heard first, up to the size of `out`;
  // returns their number. A stream ends after 30 s in which others were heard.
  size_t Ssrcs(std::span<uint32_t> out) const;
  // For RembSender.
  const ArrivalHistory& arrivals() const;

 private:
  bool started() const { return now_.IsFinite(); }
  bool any_packets() const;
  void Start(Timestamp now);
  // Hands the call's state to a new controller.
  void StartController(Timestamp now);
  void Decide(Timestamp now);

  TargetRateConstraints constraints_;
  Objective objective_;
  std::optional<RoundTripTimeUpdate> round_trip_time_;

  // ArrivalStatistics, ArrivalHistory and Guard.
  struct Path;
  std::unique_ptr<Path> path_;
  std::unique_ptr<FaultTolerantController> controller_;
  DecisionLimit decision_limit_;
  // Of the controllers before this one.
  ControllerCounters replaced_;
  // The controller's latest.
  NetworkControlUpdate update_;
  EstimatorObserver* observer_ = nullptr;

  Timestamp now_ = Timestamp::MinusInfinity();
  // When targets from before the first packet count.
  Timestamp release_ = Timestamp::PlusInfinity();
  Estimate latest_;
  // Returned by OnTimeout.
  std::optional<Estimate> reported_;
};

}  // namespace weir

#endif  // WEIR_BANDWIDTH_ESTIMATOR_H_
