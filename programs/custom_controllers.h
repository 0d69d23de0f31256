// Custom controllers in another process or library: one for simulated time, which waits for each answer, and one for
// real time, which waits for none.
#ifndef WEIR_PROGRAMS_CUSTOM_CONTROLLERS_H_
#define WEIR_PROGRAMS_CUSTOM_CONTROLLERS_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "controllers/custom_controller.h"
#include "programs/input.h"
#include "programs/line_process.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// Starting may take this many times as long as one decision: interpreters and models have to be loaded.
inline constexpr int kStartLimitFactor = 10;

// The code of a custom controller: either `command`, a program and its arguments, or `library`, a path.
struct CustomControllerSpecification {
  // The controller's name in results and messages.
  std::string name;
  std::vector<std::string> command;
  std::string library;
  // Wall-clock time that one decision may take.
  TimeDelta decision_limit = TimeDelta::Seconds(1);
};

// From {"kind": "program", "command": [...]} or {"kind": "library", "library": PATH}, optionally with "time_limit_s".
// Throws ProgramError; `path` names the value in messages.
CustomControllerSpecification ParseCustomControllerSpecification(const nlohmann::json& value, const std::string& path,
                                                                 const std::string& name);

// Starts the code of custom controllers. Programs that have served one flow serve the next: an interpreter takes long
// to start. Thread-safe. Outlives what it started.
class CustomControllers {
 public:
  // `watch_libraries`: a shared library that does not come back in time ends this process; see StartLibrary().
  explicit CustomControllers(bool watch_libraries) : watch_libraries_(watch_libraries) {}

  // The error is a sentence with the controller's name.
  Result<std::unique_ptr<CustomCode>> Start(const CustomControllerSpecification& specification,
                                            const TargetRateConstraints& constraints, const Objective& objective,
                                            uint64_t seed);

 private:
  std::unique_ptr<LineProcess> TakeIdle(const std::vector<std::string>& command);
  void TakeBack(const std::vector<std::string>& command, std::unique_ptr<LineProcess> process);

  const bool watch_libraries_;
  std::mutex mutex_;
  std::map<std::vector<std::string>, std::vector<std::unique_ptr<LineProcess>>> idle_;
};

// Loads a shared library, which stays loaded for good. With `watch`, a call into it that lasts longer than the limit
// ends this process with a message that begins with `about`: there is no other way to stop it. It then has SIGALRM and
// the timer ITIMER_REAL to itself, and calls come from one thread at a time.
Result<std::unique_ptr<CustomCode>> StartLibrary(const std::string& path, const std::string& about,
                                                 const weir_controller_start& start, TimeDelta decision_limit,
                                                 bool watch);

// Has `process` begin anew. `take_back` gets it at the end, if it works: it can begin anew.
Result<std::unique_ptr<CustomCode>> StartProgram(std::unique_ptr<LineProcess> process,
                                                 const weir_controller_start& start, TimeDelta decision_limit,
                                                 std::function<void(std::unique_ptr<LineProcess>)> take_back);

// "the controller NAME: WHAT".
std::string AboutController(const std::string& name, const std::string& what);

// For simulated time: the simulation waits for each answer of the code, so that a run is the same every time.
class SimulatedCustomController final : public CustomController {
 public:
  SimulatedCustomController(std::string name, std::unique_ptr<CustomCode> code)
      : CustomController(std::move(name)), code_(std::move(code)) {}

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, code_->interval());
  }
  // Throws ProgramError of status kFailed where the code gives no usable answer: the simulation ends.
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    if (!timer_.Take(now)) return {};
    const Result<DataRate> target = code_->Decide(Question(packets_, now));
    packets_.clear();
    if (!target) throw ProgramError(AboutController(std::string(name()), target.error()), kFailed);
    return Bounded(target.value());
  }

 private:
  const std::unique_ptr<CustomCode> code_;
};

// For real time. The code runs on a thread of its own, and no caller waits for it. Its latest answer is the target.
// After a failure there is no target, and the estimator's fallback becomes active.
class ConcurrentCustomController final : public CustomController {
 public:
  // Called on either thread with what the user should know, as a sentence: that it failed, and at the end how many of
  // its answers were late. Not after the destructor.
  using Tell = std::function<void(const std::string&)>;

  // The code starts with the first OnTargetRateConstraints, from `controllers`, which several threads may share.
  ConcurrentCustomController(const CustomControllerSpecification& specification,
                             std::shared_ptr<CustomControllers> controllers, Tell tell);
  // Does not wait either: a thread that is still being answered goes on alone, and ends with the answer.
  ~ConcurrentCustomController() override;
  ConcurrentCustomController(const ConcurrentCustomController&) = delete;
  ConcurrentCustomController& operator=(const ConcurrentCustomController&) = delete;

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  // Makes a request, unless the last one is unanswered: then the packets wait for the next time.
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  struct Shared;
  static void Answer(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace weir

#endif  // WEIR_PROGRAMS_CUSTOM_CONTROLLERS_H_
