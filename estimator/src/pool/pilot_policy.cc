#include "pool/pilot_policy.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

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

  // The copilot that is already active, or else the first available one, or else the specification's pilot.
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

constexpr TimeDelta kClearFor = TimeDelta::Millis(500);
constexpr TimeDelta kShownWithin = TimeDelta::Millis(500);
constexpr double kQueueS = 0.004;
constexpr double kNoises = 1.5;
constexpr double kMaxNoiseS = 0.04;
constexpr double kLoss = 0.02;
constexpr double kRise = 1.02;
constexpr double kGrowthPerSecond = 1.04;
// A sender uses the target if it sends at least this share of it.
constexpr double kUsed = 0.3;

struct Bounds {
  // Full trust up to `good`, none from `bad` on.
  double good;
  double bad;

  double Trust(double value) const { return std::clamp((bad - value) / (bad - good), 0.0, 1.0); }
};
constexpr Bounds kDisagreement{1.0, 1.5};
constexpr Bounds kStarvation{0.3, 0.8};

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

void Disagreement::Add(DataRate advice, std::span<const DataRate> others, double duration_s) {
  if (others.empty()) return;
  const auto [lowest, highest] = std::ranges::minmax(others);
  distance_.Add(std::abs(std::log2(advice / std::clamp(advice, lowest, highest))), duration_s);
}

void Starvation::Add(DataRate advice, std::span<const DataRate> others, DataRate target,
                     const IntervalStatistics& statistics, Timestamp now) {
  const double queue_s = kQueueS + std::min(kNoises * statistics.delay_noise_s, kMaxNoiseS);
  if (statistics.queueing_delay_min_s < queue_s) queue_was_short_ = now;
  if (!others.empty() && std::ranges::min(others) > target * kRise) others_rose_ = now;
  const bool is_clear =
      now - queue_was_short_ < kShownWithin && statistics.loss_ratio < statistics.loss_at_short_queue_10s + kLoss;
  const auto advice_bps = static_cast<double>(advice.bps());
  due_bps_ *= std::pow(kGrowthPerSecond, statistics.interval_s);
  if (!is_clear || !not_clear_.IsFinite()) {
    not_clear_ = now;
    due_bps_ = advice_bps;
  }
  received_bps_.Add(statistics.receive_rate_bps, statistics.interval_s);
  const bool is_used =
      std::max(statistics.receive_rate_bps, received_bps_.value()) > kUsed * static_cast<double>(target.bps());
  const bool others_rise = now - others_rose_ < kShownWithin;
  if (!others.empty() && advice < std::ranges::min(others) && advice_bps < due_bps_) fell_behind_ = now;
  const bool does_not_rise = advice <= target || now - fell_behind_ < kShownWithin;
  const bool starves = now - not_clear_ >= kClearFor && is_used && others_rise && does_not_rise;
  share_.Add(starves ? 1 : 0, statistics.interval_s);
}

double TrustMeasure::Update(const PoolView& view) {
  const MemberState& pilot = view.members[view.line.pilot];
  if (!pilot.rate) return 1;
  constexpr DataRate kNone = DataRate::Zero();
  std::array<DataRate, kMaxCopilots> rates{kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  size_t count = 0;
  for (size_t i = 0; i < view.members.size(); ++i) {
    const MemberState& member = view.members[i];
    if (i != view.line.pilot && member.rate && !member.suspended) rates[count++] = *member.rate;
  }
  const std::span<const DataRate> others = std::span(rates).first(count);
  disagreement_.Add(*pilot.rate, others, view.statistics.interval_s);
  starvation_.Add(*pilot.rate, others, view.target, view.statistics, view.now);
  return std::min(kDisagreement.Trust(disagreement_.powers_of_two()), kStarvation.Trust(starvation_.share()));
}

}  // namespace weir
