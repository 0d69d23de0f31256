// Field trials of libwebrtc, given after the name of one of its controllers: "gcc:TRIAL/GROUP/TRIAL/GROUP/".
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_FIELD_TRIALS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_FIELD_TRIALS_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir {

// A controller of libwebrtc at the sender that takes field trials.
struct FieldTrialController {
  std::string_view name;
  // The field trials that select it. Others may follow its name.
  std::string_view trials;
};
inline constexpr FieldTrialController kFieldTrialControllers[] = {
    {.name = "gcc", .trials = ""},
    {.name = "scream", .trials = "WebRTC-Bwe-ScreamV2/mode:always/"},
};

// Groups by trial.
using FieldTrials = std::map<std::string, std::string, std::less<>>;

// Returns "gcc" for "gcc:TRIAL/GROUP/", and any other name unchanged.
constexpr std::string_view WithoutFieldTrials(std::string_view controller) {
  return controller.substr(0, controller.find(':'));
}

// Refuses text on which libwebrtc would abort, and characters that no trial of libwebrtc contains.
Result<FieldTrials> ParseFieldTrials(std::string_view text);
std::string ToString(const FieldTrials& trials);

// Returns the trials after the name of a controller, and the controller's own unless the former set them. Also refuses
// a controller that takes no field trials.
Result<FieldTrials> FieldTrialsOf(std::string_view controller);

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_FIELD_TRIALS_H_
