// The rules of the guard: their names, switches and counters. They run after the controller and bound its rate, however
// the controller behaves.
#ifndef WEIR_GUARD_H_
#define WEIR_GUARD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace weir {

struct GuardRuleInfo {
  // Reason of an estimate that the rule changed last: "guard_" and the name, zero-terminated.
  std::string_view reason;
  // The rule can be switched off.
  bool has_switch;
  // The rule is on while a policy is trained. One that is held up from below learns to rely on it.
  bool in_training;
  // The rule works without delays.
  bool without_delays;

  constexpr std::string_view name() const { return reason.substr(6); }
};

// All rules, in the order in which they run. src/guard/guard_rules.cc has the table.
std::span<const GuardRuleInfo> GuardRules();

inline constexpr size_t kMaxGuardRules = 16;

// Rules that are on; by default all. Rules without a switch always are: a rate of 0 would mean "no limit" to the
// sender.
class GuardOptions {
 public:
  static GuardOptions WithoutRules();
  static GuardOptions ForTraining();
  static GuardOptions ForSourcesWithoutDelays();

  // False, with nothing changed, when no rule with a switch has the name.
  [[nodiscard]] bool SwitchOff(std::string_view name);
  // `rule` is an index of GuardRules().
  bool IsOn(size_t rule) const { return (off_ >> rule & 1) == 0; }

 private:
  template <class Predicate>
  static GuardOptions Only(Predicate predicate);

  uint32_t off_ = 0;
};

// Number of times that each rule changed a rate, by the index of GuardRules().
struct GuardCounters : std::array<uint64_t, kMaxGuardRules> {
  // 0 when no rule has the name.
  uint64_t Of(std::string_view name) const;
};

}  // namespace weir

#endif  // WEIR_GUARD_H_
