// Files that a user names.
#ifndef WEIR_TRAINER_GYM_SIM_INPUT_FILES_H_
#define WEIR_TRAINER_GYM_SIM_INPUT_FILES_H_

#include <nlohmann/json.hpp>
#include <string>

#include "scenario.h"

namespace weir::sim {

// All throw InputError. `what` names the kind of file in messages.
std::string ReadInputFile(const std::string& path, const char* what);
nlohmann::json ParseInputJson(const std::string& text);
Scenario ReadScenarioFile(const std::string& path);

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_INPUT_FILES_H_
