// PolyCC's pilot-copilot filter: its inputs and outputs, the policies that the library has for it, and how far the
// pilot of a pool is to be trusted, from what it did.
#ifndef WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_
#define WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "pool/pool_specification.h"
#include "weir/interval_statistics.h"
#include "weir/objective.h"
#include "weir/supervised_controller.h"
#include "weir/units.h"

namespace weir {

// One bit for each member of a pool, by its index.
using MemberSet = uint32_t;
constexpr MemberSet SetOf(size_t member) { return MemberSet{1} << member; }

// The record of one controller of a pool.
struct MemberState : ControllerState {
  // 0 to 1, see PilotPolicyKind::kByTrust.
  double trust = 1;
  uint64_t decisions_as_active = 0;
};

struct Selection {
  size_t pilot = 0;
  // The candidates; the bits of the pilot and of suspended members have no meaning.
  MemberSet copilots = 0;
  FusionKind fusion = FusionKind::kPilotOnly;

  friend bool operator==(const Selection&, const Selection&) = default;
};

// Input of a PilotPolicy.
struct PoolView {
  Timestamp now;
  Objective objective;
  DataRate target;                       // in force
  const IntervalStatistics& statistics;  // since the policy's previous call
  std::span<const MemberState> members;
  Selection line;     // of the specification
  Selection current;  // in effect
};

// Called after each decision of the active controller, or of the specification's pilot while the active one has no
// timeouts (`fixed`). Must neither throw nor allocate. An invalid index is ignored, and so is a change within
// kMinActiveTime of the previous one, unless the active controller is suspended.
using PilotPolicy = std::function<Selection(const PoolView&)>;
inline constexpr TimeDelta kMinActiveTime = TimeDelta::Seconds(5);

// Null for kFixed and kUser.
PilotPolicy MakePilotPolicy(PilotPolicyKind kind);

// --- Trust

// A mean over the recent past, exponential in time: a value as old as the time constant counts e times less than the
// present one.
class TimeMean {
 public:
  explicit TimeMean(double time_constant_s) : time_constant_s_(time_constant_s) {}

  double value() const { return value_; }
  // `value` held for the last `duration_s`, 0 or more.
  void Add(double value, double duration_s) {
    value_ += (value - value_) * (1 - std::exp(-duration_s / time_constant_s_));
  }

 private:
  double time_constant_s_;
  double value_ = 0;
};

// How far a controller's target is from those of all others.
class Disagreement {
 public:
  // `advice` and `others` held for the last `duration_s`; all finite and above 0. Without others nothing is known and
  // nothing changes.
  void Add(DataRate advice, std::span<const DataRate> others, double duration_s);
  // By how many powers of two the advice was above or below the nearest of the others', as a mean over the last second;
  // 0 while it is among them.
  double powers_of_two() const { return distance_.value(); }

 private:
  TimeMean distance_{1.0};
};

// For half a second there was neither a queue nor a loss of 2 % above what the path loses by chance, the sender uses
// what it may, all others would rise by 2 % or more, and the controller
//
// - asks for no more than is in force, or
// - asked, within half a second, for less than all others and less than it would have reached if it had risen by 4 % a
//   second since the path became clear: advice that goes up and down, or stays a bit above the target, starves the path
//   too.
//
// There is no queue when a delay of the last half second was below 4 ms and 1.5 times the delay noise (40 ms at most):
// on a link that is full some milliseconds always wait, and who does not rise there is right. Jitter hides an empty
// queue, and what others would do, for some intervals; so one of half a second that shows it is enough. The sender's
// use of the target may be a mean over a second: at the minimum most intervals have no packets.
class Starvation {
 public:
  // `advice` and `others`, above 0, were given at `now`; `target` was in force during the interval before, of which
  // `statistics` tell. Without others nobody starves anything.
  void Add(DataRate advice, std::span<const DataRate> others, DataRate target, const IntervalStatistics& statistics,
           Timestamp now);
  // Share of the last seconds, 0 to 1.
  double share() const { return share_.value(); }

 private:
  Timestamp queue_was_short_ = Timestamp::MinusInfinity();
  Timestamp others_rose_ = Timestamp::MinusInfinity();
  Timestamp not_clear_ = Timestamp::MinusInfinity();
  // The advice when the path became clear, with its growth since.
  double due_bps_ = 0;
  Timestamp fell_behind_ = Timestamp::MinusInfinity();
  TimeMean received_bps_{1.0};
  TimeMean share_{2.0};
};

// The trust in the specification's pilot: the smaller of two signals, each 1 up to a first value and 0 from a second
// on, linear between them:
//   disagreement  1 to 1.5 powers of two away from all others (`Disagreement`)
//   starvation    0.3 to 0.8 of the last seconds (`Starvation`)
// The values were fitted on random scenarios of the training split.
class TrustMeasure {
 public:
  // The pilot's trust, 0 to 1; called each time before the policy is.
  double Update(const PoolView& view);

 private:
  Disagreement disagreement_;
  Starvation starvation_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POOL_PILOT_POLICY_H_
