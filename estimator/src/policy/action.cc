#include "weir/action.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace weir {
namespace {

constexpr std::array<std::string_view, 4> kNames{"rate_bps", "log_rate", "relative", "discrete"};

// Returns the index of the highest score, or the index itself, or nothing if there is no such multiplier.
std::optional<size_t> Choice(std::span<const float> action, size_t choices) {
  if (action.size() == choices && choices > 1) {
    return static_cast<size_t>(std::max_element(action.begin(), action.end()) - action.begin());
  }
  const float index = action.front();
  if (action.size() != 1 || index < 0 || index >= static_cast<float>(choices) || index != std::floor(index)) {
    return std::nullopt;
  }
  return static_cast<size_t>(index);
}

}  // namespace

std::optional<ActionKind> ParseActionKind(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  return found == kNames.end() ? std::nullopt : std::optional(static_cast<ActionKind>(found - kNames.begin()));
}

std::string_view ToString(ActionKind kind) { return kNames[static_cast<size_t>(kind)]; }

std::optional<DataRate> ActionMapping::Apply(std::span<const float> action, DataRate current) const {
  if (action.empty()) return std::nullopt;
  if (kind != ActionKind::kDiscrete && action.size() != 1) return std::nullopt;
  if (!std::all_of(action.begin(), action.end(), [](float value) { return std::isfinite(value); })) return std::nullopt;

  const double a = action.front();
  const auto min_bps = static_cast<double>(min_rate.bps());
  const auto max_bps = static_cast<double>(max_rate.bps());
  double rate_bps = static_cast<double>(current.bps());
  switch (kind) {
    case ActionKind::kRate:
      rate_bps = a;
      break;
    case ActionKind::kLogRate:
      rate_bps = min_bps * std::pow(max_bps / min_bps, (std::clamp(a, -1.0, 1.0) + 1) / 2);
      break;
    case ActionKind::kRelative:
      rate_bps = a > 0 ? rate_bps * (1 + alpha * a) : rate_bps / (1 - alpha * a);
      break;
    case ActionKind::kDiscrete: {
      const std::optional<size_t> choice = Choice(action, multipliers.size());
      if (!choice) return std::nullopt;
      rate_bps *= multipliers[*choice];
      break;
    }
  }
  // Rounded to an integer, so that a rate computed to be at a bound equals the bound.
  return DataRate::BitsPerSecondF(std::round(std::clamp(rate_bps, min_bps, max_bps)));
}

}  // namespace weir
