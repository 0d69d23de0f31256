#include "serve/serve_request.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "programs/input.h"
#include "programs/json.h"
#include "serve/policy_request.h"

namespace weir::sim {

using nlohmann::json;

ServeRequest ParseServeRequest(std::string_view text) {
  const json document = ParseJson(text);
  JsonObject object(document, "");
  ServeRequest request;
  request.job.scenario = ParseScenario(object.Require("scenario"));
  AgentFlowIndex(request.job.scenario);
  request.job.controller = "agent";
  request.job.seed = static_cast<uint64_t>(object.Integer("seed", {.min = 0, .max = 9.2e18}, 1));
  ParsePolicyRequest(object, request.agent);
  request.agent.at_sender = object.FindOptional("side") && object.Choice("side", {"receiver", "sender"}) == 1;
  if (const json* objective = object.FindOptional("objective")) {
    request.job.objective = ParseObjective(*objective, "objective");
  }
  request.job.agent_guard = object.Boolean("guard", false);
  request.job.decision_delay = ParseDecisionDelay(object);
  request.packets = object.Boolean("packets", false);
  if (const json* call = object.FindOptional("call")) request.job.call = ParseCallMedia(*call);
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
