// libwebrtc's field trials, which may follow the name of one of its controllers: "gcc:TRIAL/GROUP/TRIAL/GROUP/".
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_FIELD_TRIALS_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_FIELD_TRIALS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir {

// Groups by trial.
using FieldTrials = std::map<std::string, std::string, std::less<>>;

// "gcc" of "gcc:TRIAL/GROUP/"; any other name as it is.
constexpr std::string_view WithoutFieldTrials(std::string_view controller) {
  return controller.substr(0, controller.find(':'));
}

// The error describes text that libwebrtc would abort on, and characters that no trial of libwebrtc has.
Result<FieldTrials> ParseFieldTrials(std::string_view text);
std::string ToString(const FieldTrials& trials);

// The trials that follow the name of a controller and, where these leave them open, those that make it what it is
// (registry.h). The error also describes a controller without field trials.
Result<FieldTrials> FieldTrialsOf(std::string_view controller);

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_FIELD_TRIALS_H_
