// An objective as users give it: a preset's name or three weights, as text or in JSON.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_OBJECTIVE_INPUT_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_OBJECTIVE_INPUT_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "weir/objective.h"

namespace weir {

// What a text must be, for messages.
std::string ObjectiveExpected();

// A preset's name, or "T,L,P" of any sum. Nothing for any other text.
std::optional<Objective> ParseObjective(const std::string& text);

// Whether weights are divided by their sum, as those of a request are, or must sum to 1, as those in a scenario file.
enum class WeightSum { kAny, kOne };

// Three numbers, [throughput, latency, loss]. Throws InputError; `path` names the value.
Objective ParseObjective(const nlohmann::json& value, const std::string& path, WeightSum sum);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_OBJECTIVE_INPUT_H_
