#include "serve/policy_request.h"

#include <cmath>
#include <cstring>
#include <string>

#include "weir/interval_statistics_fields.h"

namespace weir::sim {
namespace {

using nlohmann::json;

constexpr size_t kMaxFields = 256;
constexpr size_t kMaxMultipliers = 1024;
constexpr NumberRange kIntervalMs{.min = kMinDecisionInterval.ms(), .max = kMaxDecisionInterval.ms()};
constexpr NumberRange kPositive{.min = 0, .min_excluded = true};

FeatureSpecification ParseFeatures(JsonObject& request) {
  FeatureSpecification specification;
  const std::string path = request.PathOf("features");
  for (const json& name : JsonArray(request.Require("features"), path, 1, kMaxFields)) {
    const auto field = FindIntervalStatisticsField(JsonString(name, path));
    if (!field)
      RefuseJson(path, "there is no feature " + ShownJson(name) + "; there are " + IntervalStatisticsFieldNames());
    specification.fields.push_back(*field);
  }
  specification.history = static_cast<int>(request.Integer("history", {.min = 1, .max = kMaxHistory}, 1));
  return specification;
}

ActionMapping ParseAction(const json& value) {
  JsonObject action(value, "action");
  ActionMapping mapping;
  const std::string kind = action.String("kind");
  const std::optional<ActionKind> parsed = ParseActionKind(kind);
  if (!parsed)
    RefuseJson(action.PathOf("kind"), "must be rate_bps, log_rate, relative or discrete, not " + ShownJson(kind));
  mapping.kind = *parsed;
  const NumberRange rates{.min = 1, .max = kMaxPolicyRateBps};
  mapping.min_rate = DataRate::BitsPerSecondF(action.Number("min_bps", rates));
  mapping.max_rate = DataRate::BitsPerSecondF(action.Number("max_bps", rates));
  if (mapping.max_rate < mapping.min_rate) RefuseJson(action.PathOf("max_bps"), "must not be below min_bps");
  mapping.alpha = action.Number("alpha", kPositive, mapping.alpha);
  if (const json* multipliers = action.FindOptional("multipliers")) {
    const std::string path = action.PathOf("multipliers");
    for (const json& multiplier : JsonArray(*multipliers, path, 0, kMaxMultipliers)) {
      mapping.multipliers.push_back(static_cast<float>(JsonNumber(multiplier, path, kPositive)));
    }
  }
  if (mapping.kind == ActionKind::kDiscrete && mapping.multipliers.empty()) {
    RefuseJson(action.PathOf("multipliers"), "is needed for discrete actions");
  }
  action.RefuseUnknownKeys();
  return mapping;
}

}  // namespace

void ParsePolicyRequest(JsonObject& request, AgentSpecification& agent) {
  agent.interval = TimeDelta::SecondsF(request.Number("interval_ms", kIntervalMs) / 1000);
  agent.features = ParseFeatures(request);
  agent.action = ParseAction(request.Require("action"));
}

Result<AgentStep> ParseAgentStep(std::string_view payload, const ActionMapping& mapping) {
  const size_t scores = mapping.kind == ActionKind::kDiscrete ? mapping.multipliers.size() : 1;
  const size_t floats = payload.size() / sizeof(float);
  if (payload.size() % sizeof(float) != 0 || floats < 3 || (floats - 3 != 1 && floats - 3 != scores)) {
    return Error{"a step of " + std::to_string(payload.size()) + " bytes: it must hold " + std::to_string(scores) +
                 " float32 of action and 3 of objective"};
  }
  AgentStep step{.action = std::vector<float>(floats - 3), .objective = std::nullopt};
  std::memcpy(step.action.data(), payload.data(), step.action.size() * sizeof(float));
  float objective[3];
  std::memcpy(objective, payload.data() + step.action.size() * sizeof(float), sizeof(objective));
  if (!std::isnan(objective[0]) || !std::isnan(objective[1]) || !std::isnan(objective[2])) {
    step.objective = NormalizedObjective(objective[0], objective[1], objective[2]);
    if (!step.objective)
      return Error{"the objective of a step must be three weights above 0, or three NaN for no change"};
  }
  return step;
}

}  // namespace weir::sim
