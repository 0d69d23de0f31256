#include "weir/mocc_sender.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "arrival/arrival_history.h"
#include "guard/guard.h"
#include "policy/feature_history.h"
#include "policy/mocc_arrivals.h"
#include "policy/mocc_statistics.h"
#include "policy/policy.h"
#include "policy/policy_inputs.h"

namespace weir {

struct MoccSender::State {
  State(std::shared_ptr<const PolicyModel> model, const Objective& first, const TargetRateConstraints& constraints,
        const GuardOptions& guard_rules)
      : policy(std::move(model)),
        history(description().features),
        action(description().action_size),
        objective(first),
        rate(constraints.start_rate),
        guard(arrivals, guard_rules, /*reported=*/true) {
    arrivals.Start(now);
    guard.SetConstraints(constraints, now);
    for (int i = 0; i < FeatureHistory::kSilentIntervals; ++i)
      history.Add(statistics.Take({.interval = description().interval}, rate).value());
  }

  const ModelDescription& description() const { return policy.description(); }
  Report OnStatus(const MoccStatus& status);

  Policy policy;
  FeatureHistory history;
  std::vector<float> action;
  Objective objective;
  DataRate rate;
  MoccStatistics statistics{description().features};
  ArrivalHistory arrivals;
  MoccArrivals status_arrivals;
  // The remote end may acknowledge packets that it never received.
  Guard guard;
  // The sum of the reported intervals.
  Timestamp now = Timestamp::Micros(0);
};

MoccSender::Report MoccSender::State::OnStatus(const MoccStatus& status) {
  const Result<IntervalStatistics> taken = statistics.Take(status, rate);
  if (!taken) return {Outcome::kInvalidStatus, taken.error()};
  now += status.interval;
  status_arrivals.AddTo(arrivals, taken.value(), status.interval, now);
  history.Add(WithLessLossAtAnyRate(taken.value(), guard.loss_ratio_at_any_rate()));
  const Objective in_force = arrivals.HasQueueToYield() ? Yielding(objective) : objective;
  const bool failed = policy.Run(history.observation(), in_force, action) != PolicyFault::kNone;
  const std::optional<DataRate> decided = failed ? std::nullopt : description().action.Apply(action, rate);
  // Until something is acknowledged, the start rate is in force, which the guard lets fall after a while.
  const bool any_packets = arrivals.totals().packets > 0;
  const DataRate wanted = any_packets ? decided.value_or(std::min(rate, status.throughput)) : rate;
  arrivals.OnDecision(now);
  rate = guard.Apply(wanted, now).rate;
  arrivals.SetTarget(rate);
  return {decided ? Outcome::kDecided : Outcome::kPolicyFault, {}};
}

Result<MoccSender> MoccSender::Create(std::shared_ptr<const PolicyModel> model, const Objective& objective,
                                      const TargetRateConstraints& constraints, const GuardOptions& guard_rules) {
  const auto valid = Validated(constraints);
  if (!valid) return Error{valid.error()};
  constexpr std::string_view kHost = "with statuses of MOCC's interface";
  if (DescriptionOf(*model).format != ModelFormat::kWeir1)
    return Error{"the model cannot be used " + std::string(kHost) + ": models of MMSys 2024 need packets"};
  if (auto error = CheckFeatures(DescriptionOf(*model).features, Features(), kHost)) return *error;
  return MoccSender(std::make_unique<State>(std::move(model), objective, valid.value(), guard_rules));
}

MoccSender::MoccSender(std::unique_ptr<State> state) : state_(std::move(state)) {}
MoccSender::MoccSender(MoccSender&&) noexcept = default;
MoccSender& MoccSender::operator=(MoccSender&&) noexcept = default;
MoccSender::~MoccSender() = default;

void MoccSender::Register(const Objective& objective) { state_->objective = objective; }
MoccSender::Report MoccSender::ReportStatus(const MoccStatus& status) { return state_->OnStatus(status); }
DataRate MoccSender::sending_rate() const { return state_->rate; }
TimeDelta MoccSender::interval() const { return state_->description().interval; }

}  // namespace weir
