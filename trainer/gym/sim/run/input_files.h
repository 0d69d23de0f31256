// Files that a user names, read with a bound on their size: scenarios, JSON, models.
#ifndef WEIR_TRAINER_GYM_SIM_RUN_INPUT_FILES_H_
#define WEIR_TRAINER_GYM_SIM_RUN_INPUT_FILES_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "scenario/scenario.h"

namespace weir::sim {

// Of a scenario or a model: far more than any real one has.
inline constexpr size_t kMaxInputFileBytes = size_t{64} << 20;

// All throw InputError. `what` names the kind of file in messages.
std::string ReadInputFile(const std::string& path, const char* what);
// Refuses an object with one key twice.
nlohmann::json ParseInputJson(const std::string& text);
Scenario ReadScenarioFile(const std::string& path);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_RUN_INPUT_FILES_H_
