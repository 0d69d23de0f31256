// The time that a policy takes for a decision.
#ifndef WEIR_SIMULATOR_ENDPOINTS_DECISION_DELAY_H_
#define WEIR_SIMULATOR_ENDPOINTS_DECISION_DELAY_H_

#include <functional>

#include "core/random.h"
#include "programs/json.h"
#include "weir/interval_statistics_fields.h"
#include "weir/units.h"

namespace weir::sim {

struct DecisionDelay {
  double low_ms = 0;
  double high_ms = 0;

  // Returns a function that draws uniformly for each decision; null if decisions take no time.
  std::function<TimeDelta()> Draws(RandomStream random) const {
    if (high_ms == 0) return nullptr;
    return [*this, random]() mutable { return TimeDelta::SecondsF(random.Uniform(low_ms, high_ms) / 1000); };
  }
};

// Parses a number of milliseconds or [low, high]. No delay if the key is absent. Throws ProgramError.
inline DecisionDelay ParseDecisionDelay(JsonObject& object) {
  constexpr NumberRange kRange{.min = 0, .max = kMaxDecisionInterval.ms()};
  const nlohmann::json* const value = object.FindOptional("decision_delay_ms");
  if (value == nullptr) return {};
  const std::string path = object.PathOf("decision_delay_ms");
  if (!value->is_array()) {
    const double delay_ms = JsonNumber(*value, path, kRange);
    return {delay_ms, delay_ms};
  }
  const nlohmann::json& bounds = JsonArray(*value, path, 2, 2);
  const DecisionDelay delay{JsonNumber(bounds[0], path, kRange), JsonNumber(bounds[1], path, kRange)};
  if (delay.low_ms > delay.high_ms) RefuseJson(path, "must be [low, high], the lower one first");
  return delay;
}

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_ENDPOINTS_DECISION_DELAY_H_
