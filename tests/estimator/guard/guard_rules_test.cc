#include "weir/guard/guard_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "weir/bandwidth_estimator.h"

namespace weir {
namespace {

TEST(GuardRulesTest, EachHasAnotherCounterAndAnotherSwitch) {
  GuardCounters counters;
  for (const GuardRuleRow& row : kGuardRules) ++(counters.*row.counter);
  for (const GuardRuleRow& row : kGuardRules) EXPECT_EQ(counters.*row.counter, 1u) << row.name;
  for (const GuardRuleRow& off : kGuardRules) {
    GuardOptions options;
    EXPECT_EQ(SwitchOff(options, off.name), off.option != nullptr);
    for (const GuardRuleRow& row : kGuardRules) {
      if (row.option == nullptr) continue;
      EXPECT_EQ(options.*row.option, row.name != off.name) << row.name;
    }
  }
  GuardOptions options;
  EXPECT_FALSE(SwitchOff(options, "no such rule"));
}

TEST(GuardRulesTest, NoRulesAreNone) {
  for (const GuardRuleRow& row : kGuardRules) {
    if (row.option == nullptr) continue;
    EXPECT_FALSE(kNoGuardRules.*row.option) << row.name;
  }
}

TEST(GuardRulesTest, EachIsAReasonOfAnEstimate) {
  for (const GuardRuleRow& row : kGuardRules) {
    const std::string wanted = "guard_" + std::string(row.name);
    bool found = false;
    for (int reason = 0; reason <= static_cast<int>(EstimateReason::kGuardPolicer); ++reason) {
      found = found || ToString(static_cast<EstimateReason>(reason)) == wanted;
    }
    EXPECT_TRUE(found) << wanted;
  }
}

}  // namespace
}  // namespace weir
