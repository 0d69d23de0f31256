// The rules of the guard, which bound the rate of any controller: names, switches and counters.
//
// Invariant: no rate above what arrives is held for long while it loses packets. After ten seconds in a row that each
// lose 5 % of the packets, the rate backs off to 0.65 of what arrives; where that ends the loss, then to 0.95 of it.
#ifndef WEIR_GUARD_H_
#define WEIR_GUARD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "weir/network_types.h"
#include "weir/units.h"

namespace weir {

struct GuardRuleInfo {
  // Reason of an estimate that the rule changed last: "guard_" and the name, zero-terminated.
  std::string_view reason;
  bool has_switch = false;      // it can be switched off
  bool in_training = false;     // on while a policy is trained; a policy learns to rely on a rule that raises its rate
  bool without_delays = false;  // it works without delays

  constexpr std::string_view name() const { return reason.substr(6); }
};

// All rules, in the order in which they run.
std::span<const GuardRuleInfo> GuardRules();

inline constexpr size_t kMaxGuardRules = 16;

// The rules that are on; by default all. A rule without a switch always is.
class GuardOptions {
 public:
  static GuardOptions WithoutRules();
  static GuardOptions ForTraining();
  static GuardOptions ForSourcesWithoutDelays();

  // False, with nothing changed, when no rule with a switch has the name.
  [[nodiscard]] bool SwitchOff(std::string_view name);
  bool IsOn(size_t rule) const { return (off_ >> rule & 1) == 0; }

 private:
  template <class Predicate>
  static GuardOptions Only(Predicate predicate);

  uint32_t off_ = 0;
};

// Number of times that each rule changed a rate, by the index of GuardRules(); of "omission", that it omitted losses.
struct GuardCounters : std::array<uint64_t, kMaxGuardRules> {
  // 0 when no rule has the name.
  uint64_t Of(std::string_view name) const;
};

}  // namespace weir

#endif  // WEIR_GUARD_H_
