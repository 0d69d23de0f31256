// The rate controllers, each registered by its one line in `kControllers`: usage texts, checks of input, the order of
// tables and the colours of pages all follow it, in Python too (weir.registry).
#ifndef WEIR_REGISTRY_CONTROLLERS_H_
#define WEIR_REGISTRY_CONTROLLERS_H_

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace weir {

struct RegisteredController {
  // Lower case with hyphens, each there once.
  std::string_view name;
  // What it is, in a line.
  std::string_view summary;
  // Of this library and without a model: MakeBuiltInController makes it, for every host.
  bool built_in = false;
  // weir-sim runs it; a scenario can name it.
  bool simulated = true;
  // weir-peer runs it, in real calls.
  bool in_calls = false;
  // weir-peer runs it where it sends, in place of what follows the receiver.
  bool at_native_sender = false;
  // Its estimates are a model's, which follows the objective.
  bool uses_model = false;
  // Sees what no receiver can: a yardstick, no rival.
  bool knows_path = false;
  // Runs only where it is asked for by its name.
  bool opt_in = false;
};

// In the order of tables.
inline constexpr RegisteredController kControllers[] = {
    {.name = "weir",
     .summary = "a learned policy at the receiver, behind the guard",
     .in_calls = true,
     .uses_model = true},
    {.name = "gcc", .summary = "Google congestion control at the sender, libwebrtc's", .in_calls = true},
    {.name = "gcc-remb", .summary = "Google congestion control at the receiver, libwebrtc's"},
    {.name = "pcc", .summary = "PCC Vivace, libwebrtc's"},
    {.name = "nada", .summary = "NADA, RFC 8698", .built_in = true},
    {.name = "rule", .summary = "ten lines without learning", .built_in = true},
    {.name = "fixed", .summary = "a constant rate", .built_in = true},
    {.name = "oracle", .summary = "knows the capacity of the path", .knows_path = true},
    {.name = "weir-send",
     .summary = "weir at the sender, from transport feedback",
     .at_native_sender = true,
     .uses_model = true,
     .opt_in = true},
    {.name = "shadow",
     .summary = "gcc decides, weir is computed beside it and only shown",
     .simulated = false,
     .in_calls = true,
     .uses_model = true},
};

// The names for which a predicate without captures, such as a field, is true; in the order of the table.
template <auto kWanted>
constexpr auto ControllersThat() {
  std::array<std::string_view, std::ranges::count_if(kControllers, kWanted)> names;
  auto next = names.begin();
  for (const RegisteredController& one : kControllers) {
    if (std::invoke(kWanted, one)) *next++ = one.name;
  }
  return names;
}
inline constexpr auto kBuiltInControllers = ControllersThat<&RegisteredController::built_in>();
inline constexpr auto kSimulatedControllers = ControllersThat<&RegisteredController::simulated>();
inline constexpr auto kCallControllers = ControllersThat<&RegisteredController::in_calls>();
inline constexpr auto kNativeSenderControllers = ControllersThat<&RegisteredController::at_native_sender>();

}  // namespace weir

#endif  // WEIR_REGISTRY_CONTROLLERS_H_
