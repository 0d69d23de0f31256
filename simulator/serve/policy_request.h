// Parses frames that an agent in another process sends to `weir-sim serve`: its policy, and steps.
#ifndef WEIR_SIMULATOR_SERVE_POLICY_REQUEST_H_
#define WEIR_SIMULATOR_SERVE_POLICY_REQUEST_H_

#include <optional>
#include <string_view>
#include <vector>

#include "endpoints/agent.h"
#include "programs/json.h"
#include "weir/action.h"
#include "weir/objective.h"
#include "weir/result.h"

namespace weir::sim {

// Reads `interval_ms`, `features`, `history` and `action` into `agent`. Throws ProgramError.
void ParsePolicyRequest(JsonObject& request, AgentSpecification& agent);

struct AgentStep {
  // One element, or a score for each multiplier of a discrete action; not checked further.
  std::vector<float> action;
  // Empty if it does not change.
  std::optional<Objective> objective;
};

// Parses the payload of a frame `S`.
Result<AgentStep> ParseAgentStep(std::string_view payload, const ActionMapping& mapping);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SERVE_POLICY_REQUEST_H_
