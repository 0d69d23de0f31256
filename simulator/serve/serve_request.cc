#include "serve/serve_request.h"

#include <string>
#include <utility>
#include <variant>

#include "programs/json.h"
#include "weir/interval_statistics_fields.h"

namespace weir::sim {
namespace {

using nlohmann::json;

constexpr size_t kMaxFields = 256;
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
  if (!parsed || *parsed == ActionKind::kDiscrete)
    RefuseJson(action.PathOf("kind"), "must be rate_bps, log_rate or relative, not " + ShownJson(kind));
  mapping.kind = *parsed;
  const NumberRange rates{.min = 1, .max = kMaxPolicyRateBps};
  mapping.min_rate = DataRate::BitsPerSecondF(action.Number("min_bps", rates));
  mapping.max_rate = DataRate::BitsPerSecondF(action.Number("max_bps", rates));
  if (mapping.max_rate < mapping.min_rate) RefuseJson(action.PathOf("max_bps"), "must not be below min_bps");
  mapping.alpha = action.Number("alpha", kPositive, mapping.alpha);
  action.RefuseUnknownKeys();
  return mapping;
}

}  // namespace

ServeRequest ParseServeRequest(std::string_view text) {
  const json document = ParseJson(text);
  JsonObject object(document, "");
  ServeRequest request;
  request.job = ParseJob(object);
  request.job.controller = "agent";
  request.job.agent_guard = object.Boolean("guard", false);
  AgentFlowIndex(request.job.scenario);
  request.agent.interval = TimeDelta::SecondsF(object.Number("interval_ms", kIntervalMs) / 1000);
  request.agent.features = ParseFeatures(object);
  request.agent.action = ParseAction(object.Require("action"));
  request.agent.at_sender = object.FindOptional("side") && object.Choice("side", {"receiver", "sender"}) == 1;
  request.packets = object.Boolean("packets", false);
  object.RefuseUnknownKeys();
  return request;
}

size_t AgentFlowIndex(const Scenario& scenario) {
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const auto* rtp = std::get_if<RtpSpec>(&scenario.flows[i].kind);
    if (rtp && rtp->controller == "under_test") return i;
  }
  throw ProgramError("flows: the agent needs an RTP flow with the controller \"under_test\"");
}

}  // namespace weir::sim
