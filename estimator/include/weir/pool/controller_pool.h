// The controllers of one estimator: all see the same packets, each decides by its own logic, and all are told which
// rate was really sent. PolyCC's controller pool and congestion controller agent (SIGCOMM 2023, section 2), at the
// receiver.
#ifndef WEIR_POOL_CONTROLLER_POOL_H_
#define WEIR_POOL_CONTROLLER_POOL_H_

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

#include "arrival/interval_accumulator.h"
#include "weir/fusion.h"
#include "weir/pool/pilot_policy.h"
#include "weir/pool/pool_specification.h"
#include "weir/pool/trust.h"
#include "weir/rate_controller.h"
#include "weir/result.h"

namespace weir {

// Makes the member of that name; the error, one sentence for the user, when there is none or it cannot be had.
using MemberFactory = std::function<Result<std::unique_ptr<RateController>>(const std::string& member)>;

// A user's own, for `fusion=user` and `policy=user`.
struct PoolFunctions {
  Fusion::Function fusion = nullptr;
  PilotPolicy policy = nullptr;
};

// For hosts in real time: what takes longer than `longest` by `clock` has come too late, and is dropped. Without a
// clock nothing is late, and the same calls give the same answers.
struct DecisionLimit {
  std::function<Timestamp()> clock = nullptr;
  TimeDelta longest = TimeDelta::Millis(50);
};

struct PoolCounters {
  uint64_t pilot_decisions = 0;     // targets of whoever had the pilot's seat
  uint64_t pilot_faults = 0;        // times it should have given one and did not
  uint64_t fallback_decisions = 0;  // targets that the fallback gave in the pilot's place
  uint64_t pilot_changes = 0;       // changes of seat by the policy
  uint64_t fusion_faults = 0;       // see FusedRate
  uint64_t late_decisions = 0;      // of any member, see DecisionLimit; each is a fault too
  // From the start until the policy changed the pilot for the first time.
  TimeDelta first_pilot_held = TimeDelta::PlusInfinity();
};

// After warm-up nothing here allocates, SetLine() apart.
class ControllerPool {
 public:
  static constexpr int kFaultsToFallback = 3;
  static constexpr int kDecisionsToRecover = 20;

  // What a member is at the moment.
  enum class Role : uint8_t {
    kPilot,
    kCopilot,    // has a vote
    kWatching,   // is told everything and not asked
    kSuspended,  // failed, see kFaultsToFallback; the fallback flies while the pilot is
  };

  // What the controllers say, fused.
  struct Advice {
    enum class Source : uint8_t { kNobody, kHeld, kPilot, kCopilot, kFallback };
    Source source = Source::kNobody;
    // Of the last three sources.
    DataRate rate = DataRate::Zero();
  };

  // One controller, of the receiver's side, under its own name. Null for either: the ten-line rule, tolerant of sparse
  // packets.
  explicit ControllerPool(std::unique_ptr<RateController> only, std::unique_ptr<RateController> fallback = nullptr);

  // Without a `fallback`, the ten-line rule, tolerant of sparse packets. The error says which member cannot be had, or
  // is not of the receiver's side, or that a function is missing.
  static Result<ControllerPool> Create(const PoolSpecification& specification, const MemberFactory& make_member,
                                       PoolFunctions functions = {},
                                       std::unique_ptr<RateController> fallback = nullptr);

  // Seats, fusion and policy in a call. Members that the line does not name go on watching. The error, with nothing
  // changed, when it names one that the pool does not have, or asks for a function that the pool was not given.
  std::optional<Error> SetLine(const PoolSpecification& specification);

  // Another controller takes the place of a member, in a call too: it goes on from the rate in force, and its faults
  // and its trust begin anew. `now`: MinusInfinity before Start(). The error, with nothing changed, when no member has
  // that name, or the controller is not of the receiver's side.
  std::optional<Error> Replace(std::string_view member, std::unique_ptr<RateController> controller,
                               const TargetRateConstraints& constraints,
                               const std::optional<RoundTripTimeUpdate>& round_trip_time, Timestamp now);
  void SetDecisionLimit(DecisionLimit limit) { decision_limit_ = std::move(limit); }

  void Start(const TargetRateConstraints& constraints, const Objective& objective,
             const std::optional<RoundTripTimeUpdate>& round_trip_time, Timestamp now);
  void OnArrival(const Arrival& arrival);
  void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now);
  void OnObjective(const Objective& objective);
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update);
  // The rate in force: PolyCC's step 4. Members go on from there, so that a change of seats is no step; unless the
  // line's feedback is their own.
  void OnTargetApplied(DataRate target, Timestamp now);

  // Asks all that are due, then the policy. True when there is something new to fuse.
  bool OnTimeout(Timestamp now);
  Timestamp next_timeout() const;
  Advice Fuse();

  const RateController& pilot() const { return *controllers_[current_.pilot]; }
  bool pilot_suspended() const { return members_[current_.pilot].suspended; }
  // In the order of the line that made the pool.
  std::span<const MemberState> members() const { return members_; }
  Role role(size_t member) const;
  // Who sits where.
  const Selection& selection() const { return current_; }
  // The latest line.
  const PoolSpecification& specification() const { return specification_; }
  const PoolCounters& counters() const { return counters_; }

 private:
  ControllerPool() = default;

  template <class Function>
  void ForEachController(Function function);
  std::optional<DataRate> AskTarget(RateController& controller, Timestamp now);
  bool HasVote(size_t member) const;
  // True when it was due.
  bool Ask(size_t index, Timestamp now);
  bool AskFallback(Timestamp now);
  void AskPolicy(Timestamp now);

  PoolSpecification specification_;
  std::vector<MemberState> members_;
  // By the index of `members_`.
  std::vector<std::unique_ptr<RateController>> controllers_;
  std::unique_ptr<RateController> fallback_;
  std::optional<DataRate> fallback_rate_;
  PoolFunctions functions_;
  DecisionLimit decision_limit_;

  Selection line_;
  Selection current_;
  // Its kind is `current_`'s.
  Fusion fusion_;
  // Null: the line's selection stands.
  PilotPolicy policy_;
  TrustMeasure trust_;
  // For the policy.
  IntervalAccumulator accumulator_;
  Objective objective_;
  DataRate target_ = DataRate::Zero();
  Timestamp started_at_ = Timestamp::MinusInfinity();
  Timestamp changed_at_ = Timestamp::MinusInfinity();
  PoolCounters counters_;
};

// "pilot", "copilot", "watching", "suspended".
std::string_view ToString(ControllerPool::Role role);

}  // namespace weir

#endif  // WEIR_POOL_CONTROLLER_POOL_H_
