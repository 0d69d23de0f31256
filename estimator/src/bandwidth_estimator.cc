#include "weir/bandwidth_estimator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "arrival/arrival_history.h"
#include "arrival/arrival_statistics.h"
#include "arrival/congestion_monitor.h"
#include "arrival/reported_arrivals.h"
#include "guard/guard.h"

namespace weir {
namespace {

// Prevents a busy loop in the host when a controller is always due.
constexpr TimeDelta kMinTimeout = TimeDelta::Millis(1);
// Longer than the decision interval of controllers.
constexpr TimeDelta kRelease = TimeDelta::Millis(500);
// A sender cannot decrease its rate further with a target up to 1.5 times the minimum. With audio it then sends up to 4
// times the minimum.
constexpr double kLowestTarget = 1.5;
constexpr double kLowestSent = 4;

bool IsDecided(TargetSource source) { return source != TargetSource::kNone && source != TargetSource::kUndecided; }

ControllerCounters Sum(const ControllerCounters& a, const ControllerCounters& b) {
  return {.decisions = a.decisions + b.decisions,
          .faults = a.faults + b.faults,
          .fallback_decisions = a.fallback_decisions + b.fallback_decisions,
          .late_decisions = a.late_decisions + b.late_decisions};
}

}  // namespace

Result<TargetRateConstraints> Validated(const TargetRateConstraints& constraints) {
  const auto is_bound = [](DataRate rate) { return rate.IsFinite() && rate > DataRate::Zero(); };
  if (!is_bound(constraints.min_rate) || !is_bound(constraints.max_rate) || constraints.min_rate > constraints.max_rate)
    return Error{"the rates must be finite, above 0, and min_rate at most max_rate"};
  if (constraints.max_media_rate <= DataRate::Zero()) return Error{"max_media_rate must be above 0"};
  TargetRateConstraints valid = constraints;
  valid.start_rate = std::clamp(constraints.start_rate, constraints.min_rate, constraints.max_rate);
  return valid;
}

std::string_view ToString(const EstimateReason& reason) {
  if (reason.guard_rule) return GuardRules()[*reason.guard_rule].reason;
  // Before the first target of any controller the start rate is in force.
  constexpr std::array<std::string_view, 8> kNames{"start",     "start",    "start", "controller",
                                                   "candidate", "fallback", "held",  "probe"};
  return kNames[static_cast<size_t>(reason.source)];
}

struct BandwidthEstimator::Path {
  Path(const GuardOptions& options, bool is_reported) : guard(arrivals, options, is_reported) {}

  ArrivalCounters counters() const {
    ArrivalCounters all = statistics.counters();
    all.reordered += reported.reordered();
    all.clock_restarts += reported.clock_restarts();
    return all;
  }

  ArrivalStatistics statistics;
  ReportedArrivals reported;
  ArrivalHistory arrivals;
  CongestionMonitor congestion;
  Guard guard;
};

Result<BandwidthEstimator> BandwidthEstimator::Create(const BandwidthEstimatorConfig& config,
                                                      std::unique_ptr<ReceiverController> controller) {
  const auto constraints = Validated(config.constraints);
  if (!constraints) return Error{constraints.error()};
  if (auto error = CheckObjective(config.objective)) return std::move(*error);
  if (config.decision_limit.longest <= TimeDelta::Zero()) return Error{"the decision limit must be above 0"};
  return BandwidthEstimator(config, constraints.value(), std::move(controller));
}

BandwidthEstimator::BandwidthEstimator(const BandwidthEstimatorConfig& config, const TargetRateConstraints& valid,
                                       std::unique_ptr<ReceiverController> controller)
    : constraints_(valid),
      objective_(config.objective),
      path_(std::make_unique<Path>(config.guard ? config.guard_rules : GuardOptions::WithoutRules(),
                                   config.arrivals_are_reported)),
      controller_(SupervisedController::Of(std::move(controller))),
      decision_limit_(config.decision_limit) {
  controller_->SetDecisionLimit(decision_limit_);
  latest_.target_rate = constraints_.start_rate;
}

BandwidthEstimator::BandwidthEstimator(BandwidthEstimator&&) noexcept = default;
BandwidthEstimator& BandwidthEstimator::operator=(BandwidthEstimator&&) noexcept = default;
BandwidthEstimator::~BandwidthEstimator() = default;

const NetworkState& BandwidthEstimator::network_state() const { return path_->congestion.state(); }
bool BandwidthEstimator::DelayStands() const { return path_->arrivals.delay_stands(); }
TimeDelta BandwidthEstimator::RecurringStop() const { return path_->arrivals.RecurringStop(now_); }
const ArrivalTotals& BandwidthEstimator::totals() const { return path_->arrivals.totals(); }
bool BandwidthEstimator::HasFewPackets(Timestamp now) const {
  return path_->arrivals.fourth_latest_arrival() < now - TimeDelta::Seconds(1);
}
size_t BandwidthEstimator::Ssrcs(std::span<uint32_t> out) const { return path_->statistics.Ssrcs(out); }
void BandwidthEstimator::RemoveStream(uint32_t ssrc) { path_->statistics.RemoveStream(ssrc); }

[[gnu::always_inline]] inline void BandwidthEstimator::OnArrival(const Arrival& arrival) {
  if (started() && !any_packets()) release_ = now_ + kRelease;
  path_->arrivals.OnArrival(arrival);
  if (!started()) return;
  controller_->OnArrival(arrival);
}

std::optional<Arrival> BandwidthEstimator::OnPacket(const PacketArrival& packet) {
  std::optional<Arrival> arrival = path_->statistics.OnPacket(packet);
  if (arrival) OnArrival(*arrival);
  return arrival;
}

void BandwidthEstimator::OnReportedArrival(const ReportedArrival& reported) {
  OnArrival(path_->reported.OnArrival(reported));
}

void BandwidthEstimator::Start(Timestamp now) {
  path_->arrivals.Start(now);
  path_->guard.SetConstraints(constraints_, now);
  StartController(now);
  latest_ = {now, constraints_.start_rate, {}};
}

TargetTransferRate BandwidthEstimator::Applied(Timestamp now) const {
  return {now, latest_.target_rate, path_->guard.loss_ratio_at_any_rate(), path_->arrivals.HasQueueToYield()};
}

void BandwidthEstimator::StartController(Timestamp now) {
  constraints_.at_time = now;
  controller_->OnTargetRateConstraints(constraints_);
  controller_->OnObjective(objective_);
  if (round_trip_time_) controller_->OnRoundTripTimeUpdate(*round_trip_time_);
}

void BandwidthEstimator::SetController(std::unique_ptr<ReceiverController> controller) {
  replaced_ = Sum(replaced_, controller_->counters());
  controller_ = SupervisedController::Of(std::move(controller));
  controller_->SetDecisionLimit(decision_limit_);
  update_ = {};
  if (!started()) return;
  StartController(now_);
  controller_->OnTargetApplied(Applied(now_));
}

std::optional<Estimate> BandwidthEstimator::OnTimeout(Timestamp now) {
  if (now <= now_ || !IsTime(now)) return std::nullopt;
  const bool first = !started();
  now_ = now;
  if (first) Start(now);

  const ReceiverControlUpdate update = controller_->OnTimeout(now);
  const bool decided = update.source != TargetSource::kNone;
  if (decided) update_ = update;
  if (decided || std::min(path_->guard.next_timeout(), release_) <= now) Decide(now);

  const bool is_new =
      !reported_ || latest_.target_rate != reported_->target_rate || latest_.reason != reported_->reason;
  if (!is_new) return std::nullopt;
  reported_ = latest_;
  return latest_;
}

void BandwidthEstimator::Decide(Timestamp now) {
  release_ = Timestamp::PlusInfinity();
  const DataRate wanted = any_packets() && update_.target_rate ? *update_.target_rate : latest_.target_rate;
  EstimateReason reason = latest_.reason;
  if (any_packets() && IsDecided(update_.source)) reason = {update_.source};
  path_->arrivals.OnDecision(now);
  const Guard::Result guarded = path_->guard.Apply(wanted, now);
  if (guarded.rule) reason.guard_rule = guarded.rule;
  latest_ = {now, guarded.rate, reason};
  path_->arrivals.SetTarget(guarded.rate);
  path_->congestion.OnDecision(path_->arrivals, now, guarded.rate);
  const bool is_lowest = guarded.rate <= constraints_.min_rate * kLowestTarget;
  const DataRate lowest = is_lowest ? constraints_.min_rate * kLowestSent : DataRate::Zero();
  path_->statistics.SetLowestRate(lowest);
  path_->reported.SetLowestRate(lowest);
  controller_->OnTargetApplied(Applied(now));
}

Timestamp BandwidthEstimator::next_timeout() const {
  if (!started()) return Timestamp::MinusInfinity();
  const Timestamp next = std::min({controller_->next_timeout(), path_->guard.next_timeout(), release_});
  return std::max(next, now_ + kMinTimeout);
}

std::optional<Error> BandwidthEstimator::SetObjective(const Objective& objective) {
  if (auto error = CheckObjective(objective)) return error;
  objective_ = objective;
  if (started()) controller_->OnObjective(objective);
  return std::nullopt;
}

std::optional<Error> BandwidthEstimator::SetConstraints(const TargetRateConstraints& constraints) {
  const Result<TargetRateConstraints> valid = Validated(constraints);
  if (!valid) return Error{valid.error()};
  constraints_ = valid.value();
  if (!started()) {
    latest_.target_rate = constraints_.start_rate;
    return std::nullopt;
  }
  const Timestamp now = constraints_.at_time = std::clamp(constraints_.at_time, now_, kMaxTime);
  const Guard::Result bounded = path_->guard.SetConstraints(constraints_, now);
  const DataRate target = bounded.rate;
  if (bounded.rule) latest_ = {now, target, {latest_.reason.source, bounded.rule}};
  controller_->OnTargetRateConstraints(constraints_);
  controller_->OnTargetApplied(Applied(now));
  return std::nullopt;
}

void BandwidthEstimator::OnRoundTripTime(TimeDelta round_trip_time, Timestamp now) {
  if (!IsRoundTripTime(round_trip_time)) return;
  round_trip_time_ = RoundTripTimeUpdate{now, round_trip_time};
  if (started()) controller_->OnRoundTripTimeUpdate(*round_trip_time_);
}

void BandwidthEstimator::OnProbeResult(DataRate rate, bool after_pause) {
  const DataRate target = std::min(rate, constraints_.max_rate);
  if (!any_packets() || target <= latest_.target_rate) return;
  path_->guard.OnProbeResult(target);
  if (after_pause) path_->congestion.OnProbeAfterPause(now_, target);
  latest_ = {now_, target, {TargetSource::kProbe}};
  // In force until the controller's next decision, which starts from there.
  update_.target_rate = target;
  controller_->OnTargetApplied(Applied(now_));
}

DataRate BandwidthEstimator::HighestProbe() const { return path_->guard.highest_probe(); }
bool BandwidthEstimator::OmitsLosses() const { return path_->guard.omits_losses(); }

EstimatorStatistics BandwidthEstimator::Statistics(Timestamp now) const {
  return {.target_rate = latest_.target_rate,
          .reason = latest_.reason,
          .last_second = path_->arrivals.LastSecondBefore(now),
          .total = path_->arrivals.totals(),
          .clock_restarts = path_->counters().clock_restarts};
}

EstimatorCounters BandwidthEstimator::counters() const {
  return {.controller = Sum(replaced_, controller_->counters()),
          .guard = path_->guard.counters(),
          .arrivals = path_->counters()};
}

}  // namespace weir
