// The receiver's bandwidth estimator: arrivals in, estimates for REMB out.
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

// "guard_" and the name of the rule, else "start", "controller", "candidate", "fallback", "held" or "probe"; zero-
// terminated.
std::string_view ToString(const EstimateReason& reason);

struct Estimate {
  Timestamp at_time = Timestamp::MinusInfinity();
  // Within the constraints, and so above 0.
  DataRate target_rate = DataRate::Zero();
  EstimateReason reason;
};

struct EstimatorCounters {
  ControllerCounters controller;  // of all controllers since construction
  GuardCounters guard{};
  ArrivalCounters arrivals;
};

// For a host's getStats.
struct EstimatorStatistics {
  // In force; W3C's availableIncomingBitrate.
  DataRate target_rate = DataRate::Zero();
  EstimateReason reason;
  LastSecond last_second;
  ArrivalTotals total;
  uint64_t clock_restarts = 0;  // see ArrivalCounters
};

struct BandwidthEstimatorConfig {
  TargetRateConstraints constraints = {};
  Objective objective = {};
  // Without the guard only finiteness and bounds are kept; for training and experiments.
  bool guard = true;
  GuardOptions guard_rules = {};
  // The other end, which may lie, reports the arrivals: so the rate grows no faster than GCC's.
  bool arrivals_are_reported = false;
  DecisionLimit decision_limit = {};
};

// The host calls `OnPacket` for each RTP packet and `OnTimeout` when `next_timeout()` has come; or a RembSender, which
// decides when to send the estimate in force, calls OnTimeout. Calls are never concurrent, and all times are of one
// monotonic clock. Nothing here blocks, reads a clock other than that of DecisionLimit, or allocates after warm-up,
// except for new streams.
//
// The estimator begins with the first OnTimeout; until then `next_timeout()` is MinusInfinity, and packets only
// serve to find the base delay. The start rate is in force until the first packet; where the other end reports
// the arrivals it halves each second from the third on. The controller is polled before,
// but its targets count only from its first decision after that packet, at the latest after 500 ms.
//
// Unless the controller is a SupervisedController, it becomes one with the ten-line rule as its fallback.
class BandwidthEstimator {
 public:
  // Null for `controller`: the ten-line rule. The error names the invalid part of `config`.
  static Result<BandwidthEstimator> Create(const BandwidthEstimatorConfig& config,
                                           std::unique_ptr<ReceiverController> controller);
  BandwidthEstimator(BandwidthEstimator&&) noexcept;
  BandwidthEstimator& operator=(BandwidthEstimator&&) noexcept;
  ~BandwidthEstimator();

  // Returns the packet as the controllers receive it; nothing for a duplicate and for one that is not valid.
  std::optional<Arrival> OnPacket(const PacketArrival& packet);
  // In place of OnPacket where the arrivals are reported.
  void OnReportedArrival(const ReportedArrival& reported);
  // The stream has ended (RTCP BYE or signaling); it may begin again.
  void RemoveStream(uint32_t ssrc);
  // The estimate in force if its target or reason has changed. Ignored unless `now` is after that of the previous call.
  std::optional<Estimate> OnTimeout(Timestamp now);
  // When to call OnTimeout next; may be in the past after OnPacket or a setter.
  Timestamp next_timeout() const;

  // On an error nothing changes.
  [[nodiscard]] std::optional<Error> SetObjective(const Objective& objective);
  // The constraints come into force at their `at_time`, which is now. On an error nothing changes.
  [[nodiscard]] std::optional<Error> SetConstraints(const TargetRateConstraints& constraints);
  // Replaces the controller, also in a call; the new one goes on from the rate in force.
  void SetController(std::unique_ptr<ReceiverController> controller);
  // Ignored unless IsRoundTripTime() holds.
  void OnRoundTripTime(TimeDelta round_trip_time, Timestamp now);

  // A probe has shown that the path carries `rate`: a lower target rises to it. Ignored before the first packet.
  void OnProbeResult(DataRate rate);
  // A probe that shows more counts only as this: where the other end reports the arrivals, after the first queue.
  DataRate HighestProbe() const;
  // Losses do not depend on the rate at present: transport feedback leaves them out, where the sender has a GCC: a
  // message ends before each, and each is an RTCP packet of its own (docs/remb.md). Asked for each message.
  bool OmitsLosses() const;

  // The estimate in force, of the latest decision; the start rate at MinusInfinity before the first OnTimeout.
  const Estimate& latest() const { return latest_; }
  const NetworkState& network_state() const;
  // The time, 50 to 500 ms, for which the link stopped again and again in the last fifteen seconds; zero when it did
  // not.
  TimeDelta RecurringStop() const;
  EstimatorCounters counters() const;
  // The last second ends at `now`.
  EstimatorStatistics Statistics(Timestamp now) const;
  const SupervisedController& controller() const { return *controller_; }
  SupervisedController& controller() { return *controller_; }
  // Writes the SSRCs of the streams that have not ended, the latest first; returns their number. A stream ends after
  // 30 s in which only others sent.
  size_t Ssrcs(std::span<uint32_t> out) const;
  const ArrivalTotals& totals() const;
  // Fewer than four packets arrived in the second before `now`.
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
  ControllerCounters replaced_;  // of the controllers before this one
  ReceiverControlUpdate update_;

  Timestamp now_ = Timestamp::MinusInfinity();
  // When targets from before the first packet count.
  Timestamp release_ = Timestamp::PlusInfinity();
  Estimate latest_;
  std::optional<Estimate> reported_;
};

}  // namespace weir

#endif  // WEIR_BANDWIDTH_ESTIMATOR_H_
