// The rules of the guard, which bound the rate of any controller: names, switches and counters.
//
// Invariant: a rate above the receive rate is not held for long while it loses packets. After ten consecutive seconds
// that each lose 5 % of the packets, the rate backs off to 0.65 of the receive rate, and if that ends the loss, it is
// then held at 0.95 of the receive rate.
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
  // Reason of an estimate that this rule was the last to change: "guard_" and the name, zero-terminated.
  std::string_view reason;
  // It can be switched off.
  bool has_switch = false;
  // On in training. Off for rules on which a policy learns to rely instead of acting itself.
  bool in_training = false;

  constexpr std::string_view name() const { return reason.substr(6); }
};

// All rules, in the order in which they run. Switches and counters are by this index, so a new rule at the end keeps
// those of the others.
std::span<const GuardRuleInfo> GuardRules();

inline constexpr size_t kMaxGuardRules = 16;

// The rules that are on, by default all. A rule without a switch cannot be turned off.
class GuardOptions {
 public:
  static GuardOptions WithoutRules();
  static GuardOptions ForTraining();

  // Returns false and changes nothing if no rule with a switch has the name.
  [[nodiscard]] bool SwitchOff(std::string_view name);
  bool IsOn(size_t rule) const { return (off_ >> rule & 1) == 0; }

 private:
  template <class Predicate>
  static GuardOptions Only(Predicate predicate);

  uint32_t off_ = 0;
};

// Number of times that each rule changed a rate, by the index of GuardRules(). For "omission", the number of
// times that it omitted a loss.
struct GuardCounters : std::array<uint64_t, kMaxGuardRules> {
  // Returns 0 if no rule has the name.
  uint64_t Of(std::string_view name) const;
};

}  // namespace weir

#endif  // WEIR_GUARD_H_
