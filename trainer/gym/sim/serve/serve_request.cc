#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "interval_statistics_fields.h"
#include "program/input.h"
#include "program/json.h"
#include "serve/serve.h"

namespace weir::sim {
namespace {

using nlohmann::json;

constexpr size_t kMaxFields = 256;
constexpr double kMaxHistory = 1000;
constexpr double kMaxIntervalMs = 60'000;
constexpr size_t kMaxMultipliers = 1024;
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
  const NumberRange rates{.min = 1, .max = static_cast<double>(CapacityTrace::kMaxRateBps)};
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

ServeRequest ParseServeRequest(std::string_view text) {
  const json document = ParseJson(text);
  JsonObject object(document, "");
  ServeRequest request;
  request.job.scenario = ParseScenario(object.Require("scenario"));
  AgentFlowIndex(request.job.scenario);
  request.job.controller = "agent";
  request.job.seed = static_cast<uint64_t>(object.Integer("seed", {.min = 0, .max = 9.2e18}, 1));
  const double interval_ms = object.Number("interval_ms", {.min = 1, .max = kMaxIntervalMs});
  request.agent.interval = TimeDelta::SecondsF(interval_ms / 1000);
  request.agent.features = ParseFeatures(object);
  request.agent.at_sender = object.FindOptional("side") && object.Choice("side", {"receiver", "sender"}) == 1;
  request.agent.action = ParseAction(object.Require("action"));
  if (const json* objective = object.FindOptional("objective")) {
    request.job.objective = ParseObjective(*objective, "objective", WeightSum::kAny);
  }
  request.job.agent_guard = object.Boolean("guard", false);
  request.job.decision_delay = ParseDecisionDelay(object);
  request.packets = object.Boolean("packets", false);
  object.RefuseUnknownKeys();
  return request;
}

size_t AgentFlowIndex(const Scenario& scenario) {
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const auto* rtp = std::get_if<RtpSpec>(&scenario.flows[i].kind);
    if (rtp && rtp->controller == "under_test") return i;
  }
  throw InputError("flows: the agent needs an RTP flow with the controller \"under_test\"");
}

}  // namespace weir::sim
