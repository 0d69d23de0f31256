// The receive-side bandwidth estimator: turns packet arrivals into estimates for REMB.
//
//   OnPacket --> ArrivalStatistics ---------> ArrivalHistory --> ReceiverController --> Guard --> OnTimeout's result
//   OnReportedArrival --> ReportedArrivals --^
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
#include "weir/guard.h"
#include "weir/network_controller.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/result.h"
#include "weir/supervised_controller.h"
#include "weir/units.h"

namespace weir {

// The source of an estimate's target, and the guard rule that changed it last.
struct EstimateReason {
  TargetSource source = TargetSource::kStart;
  std::optional<size_t> guard_rule = std::nullopt;  // index of GuardRules()

  friend bool operator==(const EstimateReason&, const EstimateReason&) = default;
};

// "guard_" and the name of the rule, or else "start", "controller", "candidate", "fallback", "held" or "probe". The
// string is zero-terminated.
std::string_view ToString(const EstimateReason& reason);

struct Estimate {
  Timestamp at_time = Timestamp::MinusInfinity();
  // Within the constraints, therefore above 0.
  DataRate target_rate = DataRate::Zero();
  EstimateReason reason;
};

struct EstimatorCounters {
  ControllerCounters controller;  // sum over all controllers since construction
  GuardCounters guard{};
  ArrivalCounters arrivals;
};

// Statistics for a host's getStats().
struct EstimatorStatistics {
  // The target in force: availableIncomingBitrate of W3C's webrtc-stats.
  DataRate target_rate = DataRate::Zero();
  EstimateReason reason;
  LastSecond last_second;
  ArrivalTotals total;
  uint64_t clock_restarts = 0;  // see ArrivalCounters
};

struct BandwidthEstimatorConfig {
  TargetRateConstraints constraints = {};
  Objective objective = {};
  // False only in training and experiments. Without the guard, targets are only kept finite and within the constraints.
  bool guard = true;
  GuardOptions guard_rules = {};
  // True if the remote end reports the arrivals. It may lie, so the rate then grows no faster than GCC's.
  bool arrivals_are_reported = false;
  DecisionLimit decision_limit = {};
};

// Estimates the available bandwidth of the path from a sender. The host calls `OnPacket` for each RTP packet and
// `OnTimeout` when `next_timeout()` has come. A host that sends REMB has a RembSender call OnTimeout instead. Calls
// must not be concurrent, and all times are on one monotonic clock. No call blocks or reads a clock other than that of
// DecisionLimit. After warm-up, only new streams allocate.
//
// The estimator begins with the first OnTimeout. Until then `next_timeout()` is MinusInfinity, and packets only
// contribute to the base delay. The start rate is in force until the first packet; if the remote end reports the
// arrivals, it halves each second from the third on. The controller is polled during this time, but its targets apply
// only from its first decision after the first packet, or 500 ms after that packet, whichever is earlier.
//
// A controller that is no SupervisedController is wrapped in one, with the ten-line rule as its fallback.
class BandwidthEstimator {
 public:
  // A null `controller` stands for the ten-line rule. The error names the invalid part of `config`.
  static Result<BandwidthEstimator> Create(const BandwidthEstimatorConfig& config,
                                           std::unique_ptr<ReceiverController> controller);
  BandwidthEstimator(BandwidthEstimator&&) noexcept;
  BandwidthEstimator& operator=(BandwidthEstimator&&) noexcept;
  ~BandwidthEstimator();

  // Returns the packet as the controllers receive it, or nothing for a duplicate or invalid packet.
  std::optional<Arrival> OnPacket(const PacketArrival& packet);
  // Replaces OnPacket if the remote end reports the arrivals.
  void OnReportedArrival(const ReportedArrival& reported);
  // Called when a stream has ended (RTCP BYE or signaling). It may begin again.
  void RemoveStream(uint32_t ssrc);
  // Returns the estimate in force if its target or reason has changed. A call is ignored unless `now` is after that of
  // the previous call.
  std::optional<Estimate> OnTimeout(Timestamp now);
  // Time of the next call of OnTimeout. May be in the past after OnPacket or a setter.
  Timestamp next_timeout() const;

  // Changes nothing if it returns an error.
  [[nodiscard]] std::optional<Error> SetObjective(const Objective& objective);
  // The constraints come into force at their `at_time`, which must be now. Changes nothing if it returns an error.
  [[nodiscard]] std::optional<Error> SetConstraints(const TargetRateConstraints& constraints);
  // Replaces the controller, also during a call. The new one continues from the rate in force.
  void SetController(std::unique_ptr<ReceiverController> controller);
  // Ignored unless IsRoundTripTime() holds.
  void OnRoundTripTime(TimeDelta round_trip_time, Timestamp now);

  // Reports that a probe has shown the path to carry `rate`. A lower target rises to it. Ignored before the first
  // packet. `after_pause`: nothing but the probe was in flight, so the state of before the pause no longer holds.
  void OnProbeResult(DataRate rate, bool after_pause = false);
  // Limit on the rate that a probe can show. Finite only if the remote end reports the arrivals and after the first
  // queue.
  DataRate HighestProbe() const;
  // True while losses do not depend on the rate. Transport feedback to a sender that runs GCC then omits them: a
  // message ends before each loss, and each message is an RTCP packet of its own (docs/remb.md). Polled for each
  // message.
  bool OmitsLosses() const;

  // The estimate in force, from the latest decision. Before the first OnTimeout it is the start rate at MinusInfinity.
  const Estimate& latest() const { return latest_; }
  const NetworkState& network_state() const;
  // Length of the stops, 50 to 500 ms each, that the link made repeatedly in the last 15 s, or of the longest dip of
  // its capacity in that time, 100 ms to 1 s. Zero if there was none.
  TimeDelta RecurringStop() const;
  // Arrival::delay_stands of the latest packet.
  bool DelayStands() const;
  EstimatorCounters counters() const;
  // `last_second` of the result ends at `now`.
  EstimatorStatistics Statistics(Timestamp now) const;
  const SupervisedController& controller() const { return *controller_; }
  SupervisedController& controller() { return *controller_; }
  // Writes the SSRCs of the streams that have not ended, the most recent first, and returns their number. A stream ends
  // after 30 s without packets, unless all other streams are silent too.
  size_t Ssrcs(std::span<uint32_t> out) const;
  const ArrivalTotals& totals() const;
  // True if fewer than four packets arrived in the second before `now`.
  bool HasFewPackets(Timestamp now) const;

 private:
  BandwidthEstimator(const BandwidthEstimatorConfig& config, const TargetRateConstraints& valid,
                     std::unique_ptr<ReceiverController> controller);

  bool started() const { return now_.IsFinite(); }
  bool any_packets() const { return totals().packets > 0; }
  void Start(Timestamp now);
  // Passes the call's state to a new controller.
  void StartController(Timestamp now);
  TargetTransferRate Applied(Timestamp now) const;
  void Decide(Timestamp now);
  void OnArrival(const Arrival& arrival);

  TargetRateConstraints constraints_;
  Objective objective_;
  std::optional<RoundTripTimeUpdate> round_trip_time_;

  // ArrivalStatistics, ReportedArrivals, ArrivalHistory, CongestionMonitor and Guard.
  struct Path;
  std::unique_ptr<Path> path_;
  std::unique_ptr<SupervisedController> controller_;
  DecisionLimit decision_limit_;
  ControllerCounters replaced_;  // sum over the controllers that SetController() replaced
  ReceiverControlUpdate update_;

  Timestamp now_ = Timestamp::MinusInfinity();
  // Time from which a target decided before the first packet applies.
  Timestamp release_ = Timestamp::PlusInfinity();
  Estimate latest_;
  std::optional<Estimate> reported_;
};

}  // namespace weir

#endif  // WEIR_BANDWIDTH_ESTIMATOR_H_
