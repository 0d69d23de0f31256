#include "pool/pilot_policy.h"

namespace weir {
namespace {

constexpr float kRulingWeight = 0.6F;

Selection SelectByObjective(const PoolView& view) {
  Selection selection = view.line;
  if (view.objective.latency >= kRulingWeight) selection.fusion = FusionKind::kMin;
  if (view.objective.throughput >= kRulingWeight) selection.fusion = FusionKind::kMax;
  return selection;
}

class TrustPolicy {
 public:
  Selection operator()(const PoolView& view) {
    const size_t first = view.line.pilot;
    FollowTrust(view.members[first], view.now);
    Selection selection = view.line;
    if (!is_away_) return selection;
    selection.copilots &= ~SetOf(first);
    selection.pilot = Deputy(view, selection.copilots);
    if (selection.fusion == FusionKind::kPilotOnly) selection.fusion = FusionKind::kMean;
    return selection;
  }

 private:
  static constexpr double kDistrust = 0.3;
  static constexpr double kTrust = 0.6;
  static constexpr TimeDelta kTimeToLeave = TimeDelta::Millis(500);
  static constexpr TimeDelta kTimeToReturn = TimeDelta::Seconds(5);

  void FollowTrust(const MemberState& member, Timestamp now) {
    const bool is_low = member.trust < kDistrust;
    const bool is_high = !member.suspended && member.trust > kTrust;
    if (!is_low) low_since_ = Timestamp::PlusInfinity();
    if (!is_high) high_since_ = Timestamp::PlusInfinity();
    if (is_low && !low_since_.IsFinite()) low_since_ = now;
    if (is_high && !high_since_.IsFinite()) high_since_ = now;
    if (member.suspended || (is_low && now - low_since_ >= kTimeToLeave)) is_away_ = true;
    if (is_high && now - high_since_ >= kTimeToReturn) is_away_ = false;
  }

  // The copilot that is active already, else the first available one, else the specification's pilot.
  static size_t Deputy(const PoolView& view, MemberSet copilots) {
    const auto is_available = [&](size_t member) {
      return (copilots & SetOf(member)) != 0 && !view.members[member].suspended && view.members[member].rate;
    };
    if (is_available(view.current.pilot)) return view.current.pilot;
    for (size_t i = 0; i < view.members.size(); ++i) {
      if (is_available(i)) return i;
    }
    return view.line.pilot;
  }

  bool is_away_ = false;
  Timestamp low_since_ = Timestamp::PlusInfinity();
  Timestamp high_since_ = Timestamp::PlusInfinity();
};

}  // namespace

PilotPolicy MakePilotPolicy(PilotPolicyKind kind) {
  switch (kind) {
    case PilotPolicyKind::kByObjective:
      return &SelectByObjective;
    case PilotPolicyKind::kByTrust:
      return TrustPolicy();
    case PilotPolicyKind::kFixed:
    case PilotPolicyKind::kUser:
      break;
  }
  return nullptr;
}

}  // namespace weir
