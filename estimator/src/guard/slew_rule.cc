#include "weir/guard/slew_rule.h"

#include <algorithm>
#include <cmath>

namespace weir {
namespace {

constexpr DataRate kHeadroom = DataRate::KilobitsPerSecond(100);

}  // namespace

DataRate SlewRule::Grown(const GuardFacts& facts, const Growth& growth) {
  const DataRate received = facts.highest_receive_rate;
  const DataRate grown = facts.rate * std::pow(growth.factor_per_second, std::clamp(facts.elapsed.seconds(), 0.0, 1.0));
  if (growth.unmeasured && received.IsZero()) return grown;
  return std::max({facts.rate, received, std::min(grown, received * growth.receive_rate_multiple + kHeadroom)});
}

}  // namespace weir
