// The receiver's bandwidth estimator: arrivals in, estimates for REMB out. Only wiring; every part has a file of its
// own.
//
//   OnPacket --> ArrivalStatistics --> ArrivalHistory --> ControllerPool --> Guard --> OnTimeout's result
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
#include "weir/estimator_observer.h"
#include "weir/guard.h"
#include "weir/objective.h"
#include "weir/pool/controller_pool.h"
#include "weir/rate_controller.h"
#include "weir/units.h"

namespace weir {

class ArrivalHistory;

// Why an estimate is what it is: who spoke last of those that changed it.
enum class EstimateReason : uint8_t {
  kStart,     // no controller has spoken yet: the start rate
  kPilot,     // the pilot's rate, as it asked
  kCopilot,   // fusion preferred another rate to the pilot's
  kFallback,  // the pilot is suspended; the fallback's rate
  kHeld,      // the pilot failed just now; the rate in force
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
  // What the pilot took the path for, see RateController::path_kind().
  int path_kind = 0;
};

struct EstimatorCounters {
  uint64_t decisions = 0;           // targets the pilot gave
  uint64_t policy_faults = 0;       // times the pilot should have given one and did not
  uint64_t fallback_decisions = 0;  // targets the fallback gave in the pilot's place
  uint64_t pilot_changes = 0;       // times the pool's policy gave the seat to another
  uint64_t fusion_faults = 0;       // rates of a user's fusion that were outside its members'
  uint64_t late_decisions = 0;      // answers of members that were dropped, see DecisionLimit
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
// Life begins with the first OnTimeout; until then `next_timeout()` is MinusInfinity, and packets serve only to find
// the base delay. After each OnTimeout, `next_timeout()` lies after its `now`, whatever the controllers say. The start
// rate is in force until the first packet: controllers are asked before, since they learn from silence too, but what
// they want of a path that carries nothing yet is no estimate. After it the next answer counts, or after 500 ms what
// they have answered before.
//
// Failing controllers. Every controller must return a target rate from every OnTimeout that is called at or after its
// own next_timeout(), also when the target has not changed. No target, or one that is infinite, zero or negative, is a
// fault. At a fault of the pilot the rate in force is held; after `ControllerPool::kFaultsToFallback` faults in a row
// a member has neither seat nor vote, and the fallback takes the pilot's seat where the pool's policy gives it to
// nobody. Such a member is still asked, and comes back after `kDecisionsToRecover` good answers in a row.
class BandwidthEstimator {
 public:
  BandwidthEstimator(const BandwidthEstimatorConfig& config, ControllerPool pool);
  // A pool of one. `pilot` is of the receiver's side and not null.
  BandwidthEstimator(const BandwidthEstimatorConfig& config, std::unique_ptr<RateController> pilot)
      : BandwidthEstimator(config, ControllerPool(std::move(pilot))) {}
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

  // `objective` as NormalizedObjective() or ObjectivePreset() gave it.
  void SetObjective(const Objective& objective);
  // False, with nothing changed, when the constraints are not valid. The start rate matters only before the first
  // OnTimeout.
  bool SetConstraints(const TargetRateConstraints& constraints, Timestamp now);
  // Seats, fusion and policy among the pool's members, see ControllerPool::SetLine(). At any time in a call.
  std::optional<Error> SetPool(const PoolSpecification& specification) { return pool_.SetLine(specification); }
  // A new model, say, in place of a member of the pool; see ControllerPool::Replace(). At any time in a call.
  std::optional<Error> ReplaceMember(std::string_view member, std::unique_ptr<RateController> controller) {
    return pool_.Replace(member, std::move(controller), constraints_, round_trip_time_, now_);
  }
  // Ignored unless above 0 and at most a minute.
  void OnRoundTripTime(TimeDelta round_trip_time, Timestamp now);

  // Null: none. The observer outlives this.
  void SetObserver(EstimatorObserver* observer) { observer_ = observer; }

  // The estimate in force; the start rate at MinusInfinity before the first OnTimeout.
  const Estimate& latest() const { return latest_; }
  EstimatorCounters counters() const;
  // `now` is what the last second ends at.
  EstimatorStatistics Statistics(Timestamp now) const;
  // Writes the SSRCs of the streams that have not ended, the most recently heard first, up to the size of `out`;
  // returns their number. A stream ends after 30 s in which others were heard.
  size_t Ssrcs(std::span<uint32_t> out) const;
  // For RembSender.
  const ArrivalHistory& arrivals() const;
  const ControllerPool& pool() const { return pool_; }
  bool pilot_suspended() const { return pool_.pilot_suspended(); }

 private:
  bool started() const { return now_.IsFinite(); }
  bool any_packets() const;
  void Start(Timestamp now);
  void Decide(Timestamp now);

  TargetRateConstraints constraints_;
  Objective objective_;
  std::optional<RoundTripTimeUpdate> round_trip_time_;

  // ArrivalStatistics, ArrivalHistory and Guard.
  struct Path;
  std::unique_ptr<Path> path_;
  ControllerPool pool_;
  EstimatorObserver* observer_ = nullptr;

  Timestamp now_ = Timestamp::MinusInfinity();
  // When answers from before the first packet count.
  Timestamp release_ = Timestamp::PlusInfinity();
  Estimate latest_;
  // Returned by OnTimeout.
  std::optional<Estimate> reported_;
};

}  // namespace weir

#endif  // WEIR_BANDWIDTH_ESTIMATOR_H_
