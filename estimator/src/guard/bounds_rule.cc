// The two rules without a switch:
//   finite: a rate that is infinite, zero or negative is replaced by the rate in force.
//   bounds: min_rate <= rate <= max_rate.
#include <algorithm>

#include "guard/guard_rule.h"

namespace weir {
namespace {

class FiniteRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    return rate.IsFinite() && rate > DataRate::Zero() ? rate : facts.rate;
  }
};

class BoundsRule final : public GuardRule {
  DataRate Apply(DataRate rate, GuardFacts& facts) override {
    return std::clamp(rate, facts.constraints.min_rate, facts.constraints.max_rate);
  }
};

}  // namespace

std::unique_ptr<GuardRule> MakeFiniteRule() { return std::make_unique<FiniteRule>(); }
std::unique_ptr<GuardRule> MakeBoundsRule() { return std::make_unique<BoundsRule>(); }

}  // namespace weir
