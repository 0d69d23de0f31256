// Controllers from outside by what a user named: a program, or a shared library.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_EXTERNAL_CONTROLLERS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_EXTERNAL_CONTROLLERS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "decision_maker.h"
#include "line_process.h"
#include "weir/network_control.h"
#include "weir/objective.h"

namespace weir::external {

// Exactly one of `command` (a program and its arguments) and `library` (a path) is there.
struct ExternalSpecification {
  std::string name;
  std::vector<std::string> command;
  std::string library;
  // How long one decision may take, of the wall clock.
  TimeDelta decision_limit = TimeDelta::Seconds(1);
};

weir_controller_objective ToC(const Objective& objective);

// Programs that have served one flow serve the next: an interpreter takes long to start. Outlives what it made.
class ExternalControllers {
 public:
  // Starts it. The error is a sentence with the controller's name.
  Result<std::unique_ptr<DecisionMaker>> Start(const ExternalSpecification& specification,
                                               const TargetRateConstraints& constraints, const Objective& objective,
                                               uint64_t seed);

 private:
  std::map<std::vector<std::string>, std::vector<std::unique_ptr<LineProcess>>> idle_;
};

// "the controller NAME: WHAT".
std::string AboutController(const std::string& name, const std::string& what);

}  // namespace weir::external

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_EXTERNAL_CONTROLLERS_H_
