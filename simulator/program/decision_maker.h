// The requests to an external controller and its answers, in simulated time and in real time.
#ifndef WEIR_PROGRAM_DECISION_MAKER_H_
#define WEIR_PROGRAM_DECISION_MAKER_H_

#include <functional>
#include <memory>
#include <string>

#include "controllers/custom_controller.h"
#include "program/line_process.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir::external {

// Starting may take this many times as long as one decision: interpreters and models have to be loaded.
inline constexpr int kStartLimitFactor = 10;

// Loads a shared library, which stays loaded for good. With `watch`, a call into it that lasts longer than the limit
// ends this process with a message that begins with `about`: there is no other way to stop it.
Result<std::unique_ptr<DecisionMaker>> StartLibrary(const std::string& path, const std::string& about,
                                                    const weir_controller_start& start, TimeDelta decision_limit,
                                                    bool watch);

// Has `process` begin anew. `take_back` gets it at the end, if it works: it can begin anew.
Result<std::unique_ptr<DecisionMaker>> StartProgram(std::unique_ptr<LineProcess> process,
                                                    const weir_controller_start& start, TimeDelta decision_limit,
                                                    std::function<void(std::unique_ptr<LineProcess>)> take_back);

}  // namespace weir::external

#endif  // WEIR_PROGRAM_DECISION_MAKER_H_
