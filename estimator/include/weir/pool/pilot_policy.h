// Who sits in the pilot's seat, who has a vote beside, and how rates are fused: PolyCC's pilot-copilot filter and
// user-customized policy (SIGCOMM 2023, section 2).
#ifndef WEIR_POOL_PILOT_POLICY_H_
#define WEIR_POOL_PILOT_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "weir/fusion.h"
#include "weir/interval_statistics.h"
#include "weir/objective.h"
#include "weir/pool/pool_specification.h"
#include "weir/units.h"

namespace weir {

inline constexpr size_t kMaxPoolMembers = 1 + kMaxCopilots;
// One bit for each member of a pool, by its index.
using MemberSet = uint32_t;
constexpr MemberSet SetOf(size_t member) { return MemberSet{1} << member; }

// What a pool knows of one of its controllers.
struct MemberState {
  std::string name;
  // What it asked for last; nothing before its first answer.
  std::optional<DataRate> rate = std::nullopt;
  // A target that is missing, infinite, zero or negative is a fault, see bandwidth_estimator.h.
  int faults_in_a_row = 0;
  int decisions_in_a_row = 0;
  // Neither seat nor vote: too many faults in a row, and not yet enough good answers since.
  bool suspended = false;
  // See RateController::share_outside_training().
  double share_outside_training = 0;
  // 0 to 1, see trust.h; 1 of who is not the line's pilot, and under a fixed policy, which does not ask.
  double trust = 1;
  uint64_t decisions = 0;
  uint64_t decisions_as_pilot = 0;
  uint64_t faults = 0;
};

struct Selection {
  size_t pilot = 0;
  // Who has a vote. Of the pilot and of who is suspended it means nothing.
  MemberSet copilots = 0;
  Fusion::Kind fusion = Fusion::Kind::kPilotOnly;

  friend bool operator==(const Selection&, const Selection&) = default;
};

struct PoolView {
  Timestamp now;
  Objective objective;
  // In force.
  DataRate target;
  // Since the policy was asked before.
  const IntervalStatistics& statistics;
  // In the order of the line that made the pool.
  std::span<const MemberState> members;
  // As the latest line says.
  Selection line;
  // As it is now.
  Selection current;
};

// Asked after each decision of whoever has the pilot's seat, or, while that one has no more to decide (`fixed`), of the
// line's pilot. Must neither throw nor allocate. A pilot that there is not is ignored, and so is a change within
// `kMinTimeInSeat` of the one before, unless the pilot is suspended.
using PilotPolicy = std::function<Selection(const PoolView&)>;
inline constexpr TimeDelta kMinTimeInSeat = TimeDelta::Seconds(5);

// kByObjective: fusion is `min` while the weight of latency is 0.6 or more, `max` while that of throughput is, else the
// line's.
// kByTrust: a pilot of a trust below 0.3 for half a second, or suspended, loses its seat to the first copilot that can
// fly, and its vote too; above 0.6 for five seconds gives it back. While the pilot is away and the line names no
// fusion, the copilots fly together, under `mean`: nobody knows which of them suits the path. kFixed, kUser: null,
// which stands for the line's selection.
PilotPolicy MakePilotPolicy(PilotPolicyKind kind);

}  // namespace weir

#endif  // WEIR_POOL_PILOT_POLICY_H_
