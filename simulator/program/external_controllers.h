// Controllers from outside by what a user named: a program, or a shared library.
#ifndef WEIR_PROGRAM_EXTERNAL_CONTROLLERS_H_
#define WEIR_PROGRAM_EXTERNAL_CONTROLLERS_H_

#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "program/decision_maker.h"
#include "program/line_process.h"
#include "weir/network_types.h"
#include "weir/objective.h"

namespace weir::external {

// Exactly one of `command` (a program and its arguments) and `library` (a path) is there.
struct ExternalSpecification {
  // As results and messages call it.
  std::string name;
  std::vector<std::string> command;
  std::string library;
  // How long one decision may take, of the wall clock.
  TimeDelta decision_limit = TimeDelta::Seconds(1);
};

// From {"kind": "program", "command": [...]} or {"kind": "library", "library": PATH}, optionally with "time_limit_s".
// Throws ProgramError; `path` names the value in messages.
ExternalSpecification ParseSpecification(const nlohmann::json& value, const std::string& path, const std::string& name);

// Programs that have served one flow serve the next: an interpreter takes long to start. Thread-safe. Outlives what it
// made.
class ExternalControllers {
 public:
  // `watch_libraries`: a shared library that does not come back in time ends this process; see LibraryDecisionMaker.
  explicit ExternalControllers(bool watch_libraries) : watch_libraries_(watch_libraries) {}

  // Starts it. The error is a sentence with the controller's name.
  Result<std::unique_ptr<DecisionMaker>> Start(const ExternalSpecification& specification,
                                               const TargetRateConstraints& constraints, const Objective& objective,
                                               uint64_t seed);

 private:
  std::unique_ptr<LineProcess> TakeIdle(const std::vector<std::string>& command);
  void TakeBack(const std::vector<std::string>& command, std::unique_ptr<LineProcess> process);

  const bool watch_libraries_;
  std::mutex mutex_;
  std::map<std::vector<std::string>, std::vector<std::unique_ptr<LineProcess>>> idle_;
};

// "the controller NAME: WHAT".
std::string AboutController(const std::string& name, const std::string& what);

}  // namespace weir::external

#endif  // WEIR_PROGRAM_EXTERNAL_CONTROLLERS_H_
