// The table of rate controllers, and helpers for tables with names. Usage texts, input validation, and the order and
// colors of controllers in reports derive from it, also in Python (weir_sim.controllers).
#ifndef WEIR_REGISTRY_H_
#define WEIR_REGISTRY_H_

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

struct RegisteredController {
  // Lower case with hyphens, unique.
  std::string_view name;
  // One line.
  std::string_view summary;
  // MakeBuiltInController() makes it, without a model, in every host.
  bool built_in = false;
  // weir-sim runs it, and a scenario can name it.
  bool simulated = true;
  // weir-peer runs it, in real calls.
  bool in_calls = false;
  // weir-peer runs it at the sender instead of a controller at the receiver.
  bool at_native_sender = false;
  // A model computes its estimates, which depend on the objective.
  bool uses_model = false;
  // It has information that no receiver has, so it is an upper bound rather than a competitor.
  bool knows_path = false;
  // It runs only if it is named.
  bool opt_in = false;
  // Set for libwebrtc's controllers at the sender: the field trials that select it. More may follow its name
  // (field_trials.h). Calls run them with any receiver.
  std::optional<std::string_view> field_trials = std::nullopt;
  // The first milestone of libwebrtc that has it.
  int libwebrtc_milestone = 0;
};

// In the order in which reports list them.
inline constexpr RegisteredController kControllers[] = {
    {.name = "weir",
     .summary = "a learned policy at the receiver, behind the guard",
     .in_calls = true,
     .uses_model = true},
    {.name = "gcc",
     .summary = "Google congestion control at the sender, libwebrtc's",
     .in_calls = true,
     .field_trials = ""},
    {.name = "scream",
     .summary = "SCReAM v2 at the sender, libwebrtc's",
     .field_trials = "WebRTC-Bwe-ScreamV2/mode:always/",
     .libwebrtc_milestone = 150},
    {.name = "scream-ccfb", .summary = "scream, from RFC 8888 feedback", .libwebrtc_milestone = 150},
    {.name = "gcc-remb", .summary = "Google congestion control at the receiver, libwebrtc's"},
    {.name = "pcc", .summary = "PCC Vivace, libwebrtc's"},
    {.name = "nada", .summary = "NADA, RFC 8698", .built_in = true},
    {.name = "rule", .summary = "ten lines without learning", .built_in = true},
    {.name = "fixed", .summary = "a constant rate", .built_in = true},
    {.name = "oracle", .summary = "follows the true capacity of the path", .knows_path = true},
    {.name = "weir-send",
     .summary = "weir at the sender, from transport feedback",
     .at_native_sender = true,
     .uses_model = true,
     .opt_in = true},
    {.name = "weir-send-ccfb",
     .summary = "weir-send, from RFC 8888 feedback",
     .at_native_sender = true,
     .uses_model = true,
     .opt_in = true},
    {.name = "shadow",
     .summary = "gcc decides; weir runs in parallel and is only shown",
     .simulated = false,
     .in_calls = true,
     .uses_model = true},
    {.name = "ndtc", .summary = "draft-ageneau-ccwg-ndtc-01 at the receiver", .opt_in = true},
    {.name = "oracle-present",
     .summary = "follows the capacity of the last 50 ms, without foresight",
     .knows_path = true,
     .opt_in = true},
    {.name = "oracle-receiver", .summary = "oracle-present, at the receiver", .knows_path = true, .opt_in = true},
};

// The names of the rows for which `kWanted`, a field or a predicate without captures, is true, in the order of the
// table.
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

// The name of a row, or a plain name itself.
constexpr std::string_view NameOf(std::string_view name) { return name; }
template <class Row>
  requires requires(const Row& row) { row.name; }
constexpr std::string_view NameOf(const Row& row) {
  return row.name;
}

// Returns null if no row has the name.
template <class Rows>
constexpr auto FindRow(const Rows& rows, std::string_view name) -> decltype(&*std::begin(rows)) {
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [&](const auto& row) { return NameOf(row) == name; });
  return found == std::end(rows) ? nullptr : &*found;
}

// True if two tables have the same names, in any order. For a static_assert beside a table of factories.
template <class Rows, class OtherRows>
constexpr bool HaveSameNames(const Rows& rows, const OtherRows& others) {
  const auto has = [](const auto& table, std::string_view name) {
    return std::any_of(std::begin(table), std::end(table), [&](const auto& row) { return NameOf(row) == name; });
  };
  return std::all_of(std::begin(rows), std::end(rows), [&](const auto& row) { return has(others, NameOf(row)); }) &&
         std::all_of(std::begin(others), std::end(others), [&](const auto& row) { return has(rows, NameOf(row)); });
}

// Returns "a, b and c", for messages and usage texts. `last` precedes the last name.
template <class Rows>
std::string ListNames(const Rows& rows, std::string_view last = ", ") {
  std::string text;
  for (auto row = std::begin(rows); row != std::end(rows); ++row) {
    if (row != std::begin(rows)) text += std::next(row) == std::end(rows) ? last : ", ";
    text += NameOf(*row);
  }
  return text;
}

}  // namespace weir

#endif  // WEIR_REGISTRY_H_
