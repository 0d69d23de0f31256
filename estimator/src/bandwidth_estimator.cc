#include "weir/bandwidth_estimator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "arrival/arrival_history.h"
#include "arrival/arrival_statistics.h"
#include "guard/guard.h"

namespace weir {
namespace {

// Keeps a host from spinning when a controller is for ever due.
constexpr TimeDelta kMinTimeout = TimeDelta::Millis(1);
// Longer than controllers take from one decision to the next.
constexpr TimeDelta kRelease = TimeDelta::Millis(500);

EstimateReason ReasonOf(size_t guard_rule) {
  return static_cast<EstimateReason>(static_cast<size_t>(EstimateReason::kGuard) + guard_rule);
}

EstimateReason ReasonOf(ControllerPool::Advice::Source source) {
  using Source = ControllerPool::Advice::Source;
  switch (source) {
    case Source::kPilot:
      return EstimateReason::kPilot;
    case Source::kCopilot:
      return EstimateReason::kCopilot;
    case Source::kFallback:
      return EstimateReason::kFallback;
    case Source::kHeld:
    case Source::kNobody:
      break;
  }
  return EstimateReason::kHeld;
}

}  // namespace

std::string_view ToString(EstimateReason reason) {
  constexpr std::array<std::string_view, 5> kNames{"start", "pilot", "copilot", "fallback", "held"};
  const auto index = static_cast<size_t>(reason);
  if (index < kNames.size()) return kNames[index];
  const std::span<const GuardRuleInfo> rules = GuardRules();
  return index - kNames.size() < rules.size() ? rules[index - kNames.size()].reason : "unknown";
}

struct BandwidthEstimator::Path {
  explicit Path(const GuardOptions& options) : guard(arrivals, options) {}

  ArrivalStatistics statistics;
  ArrivalHistory arrivals;
  Guard guard;
};

BandwidthEstimator::BandwidthEstimator(const BandwidthEstimatorConfig& config, ControllerPool pool)
    : constraints_(Validated(config.constraints).value_or(TargetRateConstraints{})),
      objective_(config.objective),
      path_(std::make_unique<Path>(config.guard ? config.guard_rules : GuardOptions::WithoutRules())),
      pool_(std::move(pool)) {
  assert(Validated(config.constraints));
  pool_.SetDecisionLimit(config.decision_limit);
  latest_.target_rate = constraints_.start_rate;
}

BandwidthEstimator::BandwidthEstimator(BandwidthEstimator&&) noexcept = default;
BandwidthEstimator& BandwidthEstimator::operator=(BandwidthEstimator&&) noexcept = default;
BandwidthEstimator::~BandwidthEstimator() = default;

bool BandwidthEstimator::any_packets() const { return path_->arrivals.totals().packets > 0; }
const ArrivalHistory& BandwidthEstimator::arrivals() const { return path_->arrivals; }
size_t BandwidthEstimator::Ssrcs(std::span<uint32_t> out) const { return path_->statistics.Ssrcs(out); }
void BandwidthEstimator::RemoveStream(uint32_t ssrc) { path_->statistics.RemoveStream(ssrc); }
void BandwidthEstimator::OnPacketFateUnknown(uint32_t ssrc, uint16_t sequence_number) {
  path_->statistics.OnPacketFateUnknown(ssrc, sequence_number);
}

void BandwidthEstimator::OnPacket(const PacketArrival& packet) {
  const std::optional<Arrival> arrival = path_->statistics.OnPacket(packet);
  if (!arrival) return;
  if (started() && !any_packets()) release_ = now_ + kRelease;
  path_->arrivals.OnArrival(*arrival);
  if (!started()) return;
  pool_.OnArrival(*arrival);
  if (observer_) observer_->OnArrival(*arrival);
}

void BandwidthEstimator::Start(Timestamp now) {
  path_->arrivals.Start(now);
  path_->guard.SetConstraints(constraints_, now);
  pool_.Start(constraints_, objective_, round_trip_time_, now);
  latest_ = {now, constraints_.start_rate, EstimateReason::kStart, 0};
  if (!observer_) return;
  observer_->OnTarget(latest_.target_rate, now);
  if (round_trip_time_) observer_->OnRoundTripTimeUpdate(*round_trip_time_);
}

std::optional<Estimate> BandwidthEstimator::OnTimeout(Timestamp now) {
  if (now <= now_ || !IsTime(now)) return std::nullopt;
  const bool first = !started();
  now_ = now;
  if (first) Start(now);

  if (pool_.OnTimeout(now) || std::min(path_->guard.next_timeout(), release_) <= now) Decide(now);

  const bool is_new =
      !reported_ || latest_.target_rate != reported_->target_rate || latest_.reason != reported_->reason;
  if (!is_new) return std::nullopt;
  reported_ = latest_;
  return latest_;
}

void BandwidthEstimator::Decide(Timestamp now) {
  release_ = Timestamp::PlusInfinity();
  using Source = ControllerPool::Advice::Source;
  const ControllerPool::Advice advice = pool_.Fuse();
  const bool has_rate = any_packets() && advice.source != Source::kNobody && advice.source != Source::kHeld;
  const DataRate wanted = has_rate ? advice.rate : latest_.target_rate;
  const bool has_reason = any_packets() && advice.source != Source::kNobody;
  EstimateReason reason = has_reason ? ReasonOf(advice.source) : latest_.reason;
  path_->arrivals.OnDecision(now);
  const Guard::Result guarded = path_->guard.Apply(wanted, now);
  if (guarded.rule) reason = ReasonOf(*guarded.rule);
  latest_ = {now, guarded.rate, reason, pool_.pilot().path_kind()};
  pool_.OnTargetApplied(guarded.rate, now);
  if (observer_) observer_->OnTarget(guarded.rate, now);
}

Timestamp BandwidthEstimator::next_timeout() const {
  if (!started()) return Timestamp::MinusInfinity();
  const Timestamp next = std::min({pool_.next_timeout(), path_->guard.next_timeout(), release_});
  return std::max(next, now_ + kMinTimeout);
}

void BandwidthEstimator::SetObjective(const Objective& objective) {
  objective_ = objective;
  if (started()) pool_.OnObjective(objective);
}

bool BandwidthEstimator::SetConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  const std::optional<TargetRateConstraints> valid = Validated(constraints);
  if (!valid) return false;
  constraints_ = *valid;
  if (!started()) {
    latest_.target_rate = constraints_.start_rate;
    return true;
  }
  const Timestamp time = std::clamp(now, now_, kMaxTime);
  const Guard::Result bounded = path_->guard.SetConstraints(constraints_, time);
  const DataRate target = bounded.rate;
  if (bounded.rule) latest_ = {time, target, ReasonOf(*bounded.rule), latest_.path_kind};
  pool_.OnTargetRateConstraints(constraints_, time);
  pool_.OnTargetApplied(target, time);
  if (observer_) observer_->OnTarget(target, time);
  return true;
}

void BandwidthEstimator::OnRoundTripTime(TimeDelta round_trip_time, Timestamp now) {
  if (!IsRoundTripTime(round_trip_time)) return;
  round_trip_time_ = RoundTripTimeUpdate{now, round_trip_time};
  if (!started()) return;
  pool_.OnRoundTripTimeUpdate(*round_trip_time_);
  if (observer_) observer_->OnRoundTripTimeUpdate(*round_trip_time_);
}

EstimatorStatistics BandwidthEstimator::Statistics(Timestamp now) const {
  const ArrivalCounters& arrivals = path_->statistics.counters();
  return {.target_rate = latest_.target_rate,
          .reason = latest_.reason,
          .path_kind = latest_.path_kind,
          .last_second = path_->arrivals.LastSecondBefore(now),
          .total = path_->arrivals.totals(),
          .packets_fate_unknown = arrivals.fate_unknown,
          .clock_restarts = arrivals.clock_restarts};
}

EstimatorCounters BandwidthEstimator::counters() const {
  const PoolCounters& pool = pool_.counters();
  return {.decisions = pool.pilot_decisions,
          .policy_faults = pool.pilot_faults,
          .fallback_decisions = pool.fallback_decisions,
          .pilot_changes = pool.pilot_changes,
          .fusion_faults = pool.fusion_faults,
          .late_decisions = pool.late_decisions,
          .guard = path_->guard.counters(),
          .arrivals = path_->statistics.counters()};
}

}  // namespace weir
