#include "guard/guard.h"

#include <algorithm>
#include <utility>

namespace weir {

Guard::Guard(const ArrivalHistory& arrivals, const GuardOptions& options, bool reported)
    : arrivals_(arrivals), reported_(reported) {
  const std::span<const GuardRuleRow> table = GuardRuleTable();
  for (size_t i = 0; i < table.size(); ++i) {
    if (options.IsOn(i)) rules_.push_back({i, table[i].make()});
  }
}

GuardFacts Guard::Facts(Timestamp now) const {
  return {.arrivals = arrivals_,
          .constraints = constraints_,
          .reported = reported_,
          .now = now,
          .elapsed = now - last_apply_,
          .rate = rate_,
          .rate_at_packets = rate_at_packets_,
          .probed = probed_};
}

Guard::Result Guard::SetConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  constraints_ = constraints;
  if (!last_apply_.IsFinite()) {
    rate_ = rate_at_packets_ = constraints.start_rate;
    last_apply_ = now;
  }
  rate_at_packets_ = std::clamp(rate_at_packets_, constraints.min_rate, constraints.max_rate);
  GuardFacts facts = Facts(now);
  Result result{rate_, std::nullopt};
  for (const auto& [index, rule] : rules_) {
    if (GuardRules()[index].has_switch) continue;
    const DataRate rate = rule->Apply(result.rate, facts);
    if (rate != result.rate) result = {rate, index};
  }
  rate_ = result.rate;
  return result;
}

void Guard::OnProbeResult(DataRate rate) {
  probed_ = std::max(probed_, rate);
  rate_ = std::max(rate_, rate);
}

Guard::Result Guard::Apply(DataRate wanted, Timestamp now) {
  GuardFacts facts = Facts(now);
  Result result{wanted, std::nullopt};
  const int64_t lost = std::exchange(lost_, arrivals_.totals().packets_lost);
  for (const auto& [index, rule] : rules_) {
    const bool omitted = facts.omits_losses;
    const DataRate rate = rule->Apply(result.rate, facts);
    const bool omits = facts.omits_losses != omitted && lost_ > lost;
    if (rate == result.rate && !omits) continue;
    ++counters_[index];
    if (rate != result.rate) result = {rate, index};
  }
  rate_ = result.rate;
  highest_probe_ = facts.highest_probe;
  loss_ratio_at_any_rate_ = facts.loss_ratio_at_any_rate;
  omits_losses_ = facts.omits_losses;
  last_apply_ = now;
  if (arrivals_.new_packets() || !arrivals_.any_packets()) facts.rate_at_packets = rate_at_packets_ = rate_;
  next_timeout_ = Timestamp::PlusInfinity();
  for (const auto& [index, rule] : rules_) {
    next_timeout_ = std::min(next_timeout_, rule->NextTimeout(facts, result.rule == index));
  }
  return result;
}

}  // namespace weir
