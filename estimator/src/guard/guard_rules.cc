#include <algorithm>
#include <cmath>
#include <functional>

#include "guard/guard_rule.h"

namespace weir {

// The rules, in the order in which they run: name, factory, fields of GuardRuleInfo.
#define WEIR_GUARD_RULES(ROW)                                          \
  ROW("finite", MakeFiniteRule, .in_training = true)                   \
  ROW("starve", MakeStarveRule, .has_switch = true)                    \
  ROW("floor", MakeFloorRule, .has_switch = true)                      \
  ROW("bounds", MakeBoundsRule, .in_training = true)                   \
  ROW("slew", MakeSlewRule, .has_switch = true, .in_training = true)   \
  ROW("veto", MakeVetoRule, .has_switch = true)                        \
  ROW("policer", MakePolicerRule, .has_switch = true)                  \
  ROW("overload", MakeOverloadRule, .has_switch = true)                \
  ROW("ecn", MakeEcnRule, .has_switch = true)                          \
  ROW("stale", MakeStaleRule, .has_switch = true, .in_training = true) \
  ROW("omission", MakeOmissionRule, .has_switch = true)                \
  ROW("yield", MakeYieldRule, .has_switch = true)

#define WEIR_DECLARE(name, make, ...) std::unique_ptr<GuardRule> make();
WEIR_GUARD_RULES(WEIR_DECLARE)

namespace {

#define WEIR_ROW(name, make, ...) GuardRuleRow{{.reason = "guard_" name, __VA_ARGS__}, make},
constexpr std::array kGuardRules = {WEIR_GUARD_RULES(WEIR_ROW)};
static_assert(kGuardRules.size() <= kMaxGuardRules);

constexpr auto kInfos = [] {
  std::array<GuardRuleInfo, kGuardRules.size()> infos{};
  for (size_t i = 0; i < infos.size(); ++i) infos[i] = kGuardRules[i].info;
  return infos;
}();

constexpr DataRate kHeadroom = DataRate::KilobitsPerSecond(100);

}  // namespace

std::span<const GuardRuleRow> GuardRuleTable() { return kGuardRules; }
std::span<const GuardRuleInfo> GuardRules() { return kInfos; }

template <class Predicate>
GuardOptions GuardOptions::Only(Predicate predicate) {
  GuardOptions options;
  for (size_t i = 0; i < kInfos.size(); ++i) {
    if (kInfos[i].has_switch && !predicate(kInfos[i])) options.off_ |= 1u << i;
  }
  return options;
}

GuardOptions GuardOptions::WithoutRules() {
  return Only([](const GuardRuleInfo&) { return false; });
}
GuardOptions GuardOptions::ForTraining() { return Only(std::mem_fn(&GuardRuleInfo::in_training)); }

bool GuardOptions::SwitchOff(std::string_view name) {
  const auto rule = std::ranges::find(kInfos, name, &GuardRuleInfo::name);
  if (rule == kInfos.end() || !rule->has_switch) return false;
  off_ |= 1u << (rule - kInfos.begin());
  return true;
}

uint64_t GuardCounters::Of(std::string_view name) const {
  const auto rule = std::ranges::find(kInfos, name, &GuardRuleInfo::name);
  return rule == kInfos.end() ? 0 : (*this)[static_cast<size_t>(rule - kInfos.begin())];
}

DataRate Limited(DataRate rate, DataRate limit, const GuardFacts& facts) {
  return std::min(rate, std::max(limit, facts.constraints.min_rate));
}

DataRate RateBeforeIdle(const GuardFacts& facts) {
  return facts.arrivals.SenderWasIdle() ? std::max(facts.rate, facts.rate_at_packets) : facts.rate;
}

DataRate GrownRate(const GuardFacts& facts, const Growth& growth) {
  const DataRate rate = RateBeforeIdle(facts);
  const DataRate received = facts.arrivals.HighestReceiveRate();
  const DataRate grown = rate * std::pow(growth.factor_per_second, std::clamp(facts.elapsed.seconds(), 0.0, 1.0));
  if (growth.unmeasured && received.IsZero()) return grown;
  return std::max({rate, received, std::min(grown, received * growth.receive_rate_multiple + kHeadroom)});
}

}  // namespace weir
