#include "weir/bandwidth_estimator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace weir {
namespace {

// Keeps a host from spinning when a controller is for ever due.
constexpr TimeDelta kMinTimeout = TimeDelta::Millis(1);
// Longer than controllers take from one decision to the next.
constexpr TimeDelta kRelease = TimeDelta::Millis(500);

EstimateReason ReasonOf(GuardRule rule) {
  switch (rule) {
    case GuardRule::kFinite:
      return EstimateReason::kGuardFinite;
    case GuardRule::kFloor:
      return EstimateReason::kGuardFloor;
    case GuardRule::kBounds:
      return EstimateReason::kGuardBounds;
    case GuardRule::kSlew:
      return EstimateReason::kGuardSlew;
    case GuardRule::kStale:
      return EstimateReason::kGuardStale;
    case GuardRule::kVeto:
      return EstimateReason::kGuardVeto;
    case GuardRule::kPolicer:
      return EstimateReason::kGuardPolicer;
    case GuardRule::kNone:
      break;
  }
  assert(false);
  return EstimateReason::kStart;
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
  constexpr std::array<std::string_view, 12> kNames{"start",      "pilot",        "copilot",     "fallback",
                                                    "held",       "guard_finite", "guard_floor", "guard_bounds",
                                                    "guard_slew", "guard_stale",  "guard_veto",  "guard_policer"};
  const auto index = static_cast<size_t>(reason);
  return index < kNames.size() ? kNames[index] : "unknown";
}

BandwidthEstimator::BandwidthEstimator(const BandwidthEstimatorConfig& config, ControllerPool pool)
    : constraints_(Validated(config.constraints).value_or(TargetRateConstraints{})),
      objective_(config.objective),
      pool_(std::move(pool)),
      guard_(config.guard ? config.guard_rules : kNoGuardRules) {
  assert(Validated(config.constraints));
  pool_.SetDecisionLimit(config.decision_limit);
  latest_.target_rate = constraints_.start_rate;
}

void BandwidthEstimator::OnPacket(const PacketArrival& packet) {
  const std::optional<Arrival> arrival = arrival_statistics_.OnPacket(packet);
  if (!arrival) return;
  if (started() && !any_packets()) release_ = now_ + kRelease;
  receive_statistics_.OnArrival(*arrival);
  if (!started()) return;
  pool_.OnArrival(*arrival);
  if (observer_) observer_->OnArrival(*arrival);
  guard_.OnArrival(*arrival);
  throttle_.OnPacket(arrival->packet.arrival_time, arrival->packet.size());
}

void BandwidthEstimator::Start(Timestamp now) {
  guard_.SetConstraints(constraints_, now);
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

  if (pool_.OnTimeout(now) || std::min(guard_.next_timeout(), release_) <= now) Decide(now);

  if (throttle_.DueTime(latest_.target_rate, now) > now) return std::nullopt;
  throttle_.OnSent(latest_.target_rate, now);
  ++feedbacks_;
  return Estimate{now, latest_.target_rate, latest_.reason, latest_.path_kind};
}

void BandwidthEstimator::Decide(Timestamp now) {
  release_ = Timestamp::PlusInfinity();
  using Source = ControllerPool::Advice::Source;
  const ControllerPool::Advice advice = pool_.Fuse();
  const bool has_rate = any_packets() && advice.source != Source::kNobody && advice.source != Source::kHeld;
  const DataRate wanted = has_rate ? advice.rate : latest_.target_rate;
  const bool has_reason = any_packets() && advice.source != Source::kNobody;
  EstimateReason reason = has_reason ? ReasonOf(advice.source) : latest_.reason;
  const Guard::Result guarded = guard_.Apply(wanted, now);
  if (guarded.rule != GuardRule::kNone) reason = ReasonOf(guarded.rule);
  latest_ = {now, guarded.rate, reason, pool_.pilot().path_kind()};
  pool_.OnTargetApplied(guarded.rate, now);
  if (observer_) observer_->OnTarget(guarded.rate, now);
}

Timestamp BandwidthEstimator::next_timeout() const {
  if (!started()) return Timestamp::MinusInfinity();
  const Timestamp next =
      std::min({pool_.next_timeout(), guard_.next_timeout(), release_, throttle_.DueTime(latest_.target_rate, now_)});
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
  guard_.SetConstraints(constraints_, time);
  const DataRate target = std::clamp(latest_.target_rate, constraints_.min_rate, constraints_.max_rate);
  if (target != latest_.target_rate) latest_ = {time, target, EstimateReason::kGuardBounds, latest_.path_kind};
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
  const ArrivalCounters& arrivals = arrival_statistics_.counters();
  return {.target_rate = latest_.target_rate,
          .reason = latest_.reason,
          .path_kind = latest_.path_kind,
          .last_second = receive_statistics_.Look(now),
          .total = receive_statistics_.total(),
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
          .feedbacks = feedbacks_,
          .guard = guard_.counters(),
          .arrivals = arrival_statistics_.counters()};
}

}  // namespace weir
