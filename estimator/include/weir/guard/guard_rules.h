// The guard's rules by name: each has a switch and a counter.
#ifndef WEIR_GUARD_GUARD_RULES_H_
#define WEIR_GUARD_GUARD_RULES_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace weir {

enum class GuardRule : uint8_t { kNone, kFinite, kFloor, kBounds, kSlew, kStale, kVeto, kPolicer };

// Which rules are on. Without any only finiteness and the bounds are kept: a rate of 0 would mean "no limit" to the
// sender.
struct GuardOptions {
  bool floor = true;
  bool slew = true;
  bool stale = true;
  bool veto = true;
  bool policer = true;
};

inline constexpr GuardOptions kNoGuardRules = {
    .floor = false, .slew = false, .stale = false, .veto = false, .policer = false};

// How often each rule changed the rate it was shown.
struct GuardCounters {
  uint64_t finite = 0;
  uint64_t floor = 0;
  uint64_t bounds = 0;
  uint64_t slew = 0;
  uint64_t stale = 0;
  uint64_t veto = 0;
  uint64_t policer = 0;
};

struct GuardRuleRow {
  std::string_view name;
  GuardRule rule;
  uint64_t GuardCounters::* counter;
  // Null: it cannot be switched off.
  bool GuardOptions::* option;
};

// In the order of records and tables.
inline constexpr std::array kGuardRules = {
    GuardRuleRow{"finite", GuardRule::kFinite, &GuardCounters::finite, nullptr},
    GuardRuleRow{"floor", GuardRule::kFloor, &GuardCounters::floor, &GuardOptions::floor},
    GuardRuleRow{"bounds", GuardRule::kBounds, &GuardCounters::bounds, nullptr},
    GuardRuleRow{"slew", GuardRule::kSlew, &GuardCounters::slew, &GuardOptions::slew},
    GuardRuleRow{"stale", GuardRule::kStale, &GuardCounters::stale, &GuardOptions::stale},
    GuardRuleRow{"veto", GuardRule::kVeto, &GuardCounters::veto, &GuardOptions::veto},
    GuardRuleRow{"policer", GuardRule::kPolicer, &GuardCounters::policer, &GuardOptions::policer},
};

// False for a name that is no rule's with a switch.
constexpr bool SwitchOff(GuardOptions& options, std::string_view name) {
  for (const GuardRuleRow& row : kGuardRules) {
    if (row.name != name || row.option == nullptr) continue;
    options.*row.option = false;
    return true;
  }
  return false;
}

}  // namespace weir

#endif  // WEIR_GUARD_GUARD_RULES_H_
