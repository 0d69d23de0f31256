#include "weir/bandwidth_estimator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "weir/controllers/rule_controller.h"

namespace weir {
namespace {

// Keeps a host from spinning when a controller is for ever due.
constexpr TimeDelta kMinTimeout = TimeDelta::Millis(1);

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
    case GuardRule::kNone:
      break;
  }
  assert(false);
  return EstimateReason::kStart;
}

// The target that a controller gives when it is due; nothing when it is a fault.
std::optional<DataRate> AskTarget(RateController& controller, Timestamp now) {
  const NetworkControlUpdate update = controller.OnTimeout(now);
  if (!update.target_rate) return std::nullopt;
  const DataRate rate = update.target_rate->target_rate;
  return rate.IsFinite() && rate > DataRate::Zero() ? std::optional(rate) : std::nullopt;
}

}  // namespace

std::string_view ToString(EstimateReason reason) {
  constexpr std::array<std::string_view, 10> kNames{"start",      "pilot",        "copilot",     "fallback",
                                                    "held",       "guard_finite", "guard_floor", "guard_bounds",
                                                    "guard_slew", "guard_stale"};
  const auto index = static_cast<size_t>(reason);
  return index < kNames.size() ? kNames[index] : "unknown";
}

BandwidthEstimator::BandwidthEstimator(const BandwidthEstimatorConfig& config, std::unique_ptr<RateController> pilot,
                                       std::vector<std::unique_ptr<RateController>> copilots, Fusion fusion,
                                       std::unique_ptr<RateController> fallback)
    : constraints_(Validated(config.constraints).value_or(TargetRateConstraints{})),
      objective_(config.objective),
      fusion_(std::move(fusion)),
      pilot_(std::move(pilot)),
      fallback_(fallback ? std::move(fallback)
                         : std::make_unique<RuleController>(RuleOptions{.tolerate_sparse_packets = true})),
      guard_(GuardOptions{.floor = config.guard && config.guard_floor, .slew = config.guard, .stale = config.guard}) {
  assert(Validated(config.constraints) && pilot_);
  for (auto& copilot : copilots) copilots_.push_back({std::move(copilot), std::nullopt});
  copilot_rates_.reserve(copilots_.size());
  latest_.target_rate = constraints_.start_rate;
}

template <class Function>
void BandwidthEstimator::ForEachController(Function function) {
  function(*pilot_);
  for (Seat& copilot : copilots_) function(*copilot.controller);
  function(*fallback_);
}

void BandwidthEstimator::OnPacket(const PacketArrival& packet) {
  const std::optional<Arrival> arrival = arrival_statistics_.OnPacket(packet);
  if (!arrival || !started()) return;
  ForEachController([&](RateController& controller) { controller.OnArrival(*arrival); });
  if (observer_) observer_->OnArrival(*arrival);
  guard_.OnArrival(*arrival);
  throttle_.OnPacket(arrival->packet.arrival_time, arrival->packet.size());
}

void BandwidthEstimator::Start(Timestamp now) {
  guard_.SetConstraints(constraints_, now);
  ForEachController([&](RateController& controller) {
    controller.OnTargetRateConstraints(constraints_, now);
    controller.OnObjective(objective_);
    if (round_trip_time_) controller.OnRoundTripTimeUpdate(*round_trip_time_);
  });
  latest_ = {now, constraints_.start_rate, EstimateReason::kStart};
  if (!observer_) return;
  observer_->OnTarget(latest_.target_rate, now);
  if (round_trip_time_) observer_->OnRoundTripTimeUpdate(*round_trip_time_);
}

std::optional<Estimate> BandwidthEstimator::OnTimeout(Timestamp now) {
  if (now <= now_ || !IsTime(now)) return std::nullopt;
  const bool first = !started();
  now_ = now;
  if (first) Start(now);

  bool decided = AskPilot(now);
  decided |= AskFallback(now);
  decided |= AskCopilots(now);
  if (decided || guard_.next_timeout() <= now) Decide(now);

  if (throttle_.DueTime(latest_.target_rate, now) > now) return std::nullopt;
  throttle_.OnSent(latest_.target_rate, now);
  ++counters_.feedbacks;
  return Estimate{now, latest_.target_rate, latest_.reason};
}

bool BandwidthEstimator::AskPilot(Timestamp now) {
  if (pilot_->next_timeout() > now) return false;
  const std::optional<DataRate> rate = AskTarget(*pilot_, now);
  if (!rate) {
    ++counters_.policy_faults;
    decisions_in_a_row_ = 0;
    faults_in_a_row_ = std::min(faults_in_a_row_ + 1, kFaultsToFallback);
    if (faults_in_a_row_ == kFaultsToFallback) suspended_ = true;
    return true;
  }
  pilot_rate_ = rate;
  ++counters_.decisions;
  faults_in_a_row_ = 0;
  decisions_in_a_row_ = std::min(decisions_in_a_row_ + 1, kDecisionsToRecover);
  if (decisions_in_a_row_ == kDecisionsToRecover) suspended_ = false;
  return true;
}

// Also while the pilot is well: the fallback's windows must be warm when it is needed.
bool BandwidthEstimator::AskFallback(Timestamp now) {
  if (fallback_->next_timeout() > now) return false;
  const std::optional<DataRate> rate = AskTarget(*fallback_, now);
  if (rate) fallback_rate_ = rate;
  if (!rate || !suspended_) return false;
  ++counters_.fallback_decisions;
  return true;
}

bool BandwidthEstimator::AskCopilots(Timestamp now) {
  bool any = false;
  for (Seat& copilot : copilots_) {
    if (copilot.controller->next_timeout() > now) continue;
    any = true;
    if (const std::optional<DataRate> rate = AskTarget(*copilot.controller, now)) copilot.rate = rate;
  }
  return any;
}

void BandwidthEstimator::Decide(Timestamp now) {
  DataRate wanted = latest_.target_rate;
  EstimateReason reason = latest_.reason;
  const std::optional<DataRate>& seat = suspended_ ? fallback_rate_ : pilot_rate_;
  if (!suspended_ && faults_in_a_row_ > 0) {
    reason = EstimateReason::kHeld;
  } else if (seat) {
    copilot_rates_.clear();
    for (const Seat& copilot : copilots_) {
      if (copilot.rate) copilot_rates_.push_back(*copilot.rate);
    }
    const FusedRate fused = FuseRates(fusion_, *seat, copilot_rates_);
    wanted = fused.rate;
    reason = fused.from_copilot ? EstimateReason::kCopilot
             : suspended_       ? EstimateReason::kFallback
                                : EstimateReason::kPilot;
  }
  const Guard::Result guarded = guard_.Apply(wanted, now);
  if (guarded.rule != GuardRule::kNone) reason = ReasonOf(guarded.rule);
  latest_ = {now, guarded.rate, reason};
  ForEachController([&](RateController& controller) { controller.OnTargetApplied(guarded.rate, now); });
  if (observer_) observer_->OnTarget(guarded.rate, now);
}

Timestamp BandwidthEstimator::next_timeout() const {
  if (!started()) return Timestamp::MinusInfinity();
  Timestamp next = std::min({pilot_->next_timeout(), fallback_->next_timeout(), guard_.next_timeout(),
                             throttle_.DueTime(latest_.target_rate, now_)});
  for (const Seat& copilot : copilots_) next = std::min(next, copilot.controller->next_timeout());
  return std::max(next, now_ + kMinTimeout);
}

void BandwidthEstimator::SetObjective(const Objective& objective) {
  objective_ = objective;
  if (!started()) return;
  ForEachController([&](RateController& controller) { controller.OnObjective(objective); });
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
  if (target != latest_.target_rate) latest_ = {time, target, EstimateReason::kGuardBounds};
  ForEachController([&](RateController& controller) {
    controller.OnTargetRateConstraints(constraints_, time);
    controller.OnTargetApplied(target, time);
  });
  if (observer_) observer_->OnTarget(target, time);
  return true;
}

void BandwidthEstimator::OnRoundTripTime(TimeDelta round_trip_time, Timestamp now) {
  if (!IsRoundTripTime(round_trip_time)) return;
  round_trip_time_ = RoundTripTimeUpdate{now, round_trip_time};
  if (!started()) return;
  ForEachController([&](RateController& controller) { controller.OnRoundTripTimeUpdate(*round_trip_time_); });
  if (observer_) observer_->OnRoundTripTimeUpdate(*round_trip_time_);
}

EstimatorCounters BandwidthEstimator::counters() const {
  EstimatorCounters counters = counters_;
  counters.guard = guard_.counters();
  counters.arrivals = arrival_statistics_.counters();
  return counters;
}

}  // namespace weir
