#include "weir/guard.h"

#include <algorithm>

#include "weir/guard/slew_rule.h"

namespace weir {
namespace {

constexpr TimeDelta kRepeat = TimeDelta::Millis(100);

}  // namespace

void Guard::SetConstraints(const TargetRateConstraints& constraints, Timestamp now) {
  constraints_ = constraints;
  if (!last_apply_.IsFinite()) {
    rate_ = constraints.start_rate;
    stale_.SetRateAtPackets(constraints.start_rate);
    last_apply_ = now;
    receive_rate_.Start(now);
  }
  rate_ = std::clamp(rate_, constraints.min_rate, constraints.max_rate);
  stale_.SetRateAtPackets(std::clamp(stale_.rate_at_packets(), constraints.min_rate, constraints.max_rate));
}

void Guard::OnArrival(const Arrival& arrival) {
  OnPacket(arrival.packet.size());
  if (!watches()) return;
  queue_watch_.OnArrival(arrival);
  delay_stands_ = arrival.delay_stands;
}

GuardFacts Guard::Look(Timestamp now) {
  receive_rate_.Update(now);
  GuardFacts facts{.now = now,
                   .elapsed = now - last_apply_,
                   .rate = rate_,
                   .highest_receive_rate = receive_rate_.Highest(),
                   .sign = watches() ? queue_watch_.Look(now) : QueueSign::kUnknown,
                   .delay_stands = delay_stands_};
  facts.starting = options_.floor && start_.Look(facts.sign, rhythm_.first(), now, rate_, facts.highest_receive_rate);
  return facts;
}

Guard::Result Guard::Apply(DataRate wanted, Timestamp now) {
  Result result{wanted, GuardRule::kNone};
  const auto change_to = [&result](DataRate rate, GuardRule rule, uint64_t& counter) {
    if (rate == result.rate) return;
    result = {rate, rule};
    ++counter;
  };
  const auto limit_to = [&](DataRate limit, GuardRule rule, uint64_t& counter) {
    change_to(std::min(result.rate, std::max(limit, constraints_.min_rate)), rule, counter);
  };
  const bool packets = pending_packets_ > 0;
  if (packets) rhythm_.OnPackets(pending_packets_, now);
  pending_packets_ = 0;
  const GuardFacts facts = Look(now);
  const bool stale = options_.stale && stale_.IsStale(rhythm_, now);

  if (!wanted.IsFinite() || wanted <= DataRate::Zero()) change_to(rate_, GuardRule::kFinite, counters_.finite);
  if (options_.floor) {
    const DataRate floor = floor_.Limit(facts, queue_watch_, rhythm_);
    change_to(std::max(result.rate, floor), GuardRule::kFloor, counters_.floor);
  }
  change_to(std::clamp(result.rate, constraints_.min_rate, constraints_.max_rate), GuardRule::kBounds,
            counters_.bounds);
  if (options_.slew) limit_to(SlewRule::Limit(facts), GuardRule::kSlew, counters_.slew);
  if (options_.veto) limit_to(veto_.Limit(facts, queue_watch_, receive_rate_), GuardRule::kVeto, counters_.veto);
  if (options_.policer) limit_to(policer_.Limit(queue_watch_), GuardRule::kPolicer, counters_.policer);
  if (stale) limit_to(stale_.Limit(rhythm_, now), GuardRule::kStale, counters_.stale);

  rate_ = result.rate;
  last_apply_ = now;
  if (packets || !rhythm_.any()) stale_.SetRateAtPackets(rate_);
  next_timeout_ = NextTimeout(result.rule, stale, now);
  return result;
}

Timestamp Guard::NextTimeout(GuardRule rule, bool stale, Timestamp now) const {
  if (rule == GuardRule::kSlew || stale) return now + kRepeat;
  if (!options_.stale || !rhythm_.any()) return Timestamp::PlusInfinity();
  // The rate in force may just have changed, and with it the limit of silence.
  return std::max(rhythm_.latest() + stale_.SilenceLimit(rhythm_), now + kRepeat);
}

}  // namespace weir
