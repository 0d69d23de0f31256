// Custom controllers in another process or library. SimulatedCustomController runs in simulated time and waits for each
// answer; ConcurrentCustomController runs in real time and never waits.
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

#include "programs/input.h"
#include "programs/line_process.h"
#include "weir/custom_controller.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// Starting may take this many times as long as one decision: interpreters and models have to be loaded.
inline constexpr int kStartLimitFactor = 10;

// Exactly one of `command` (a program and its arguments) and `library` (a path) is set.
struct CustomControllerSpecification {
  // The name in results and messages.
  std::string name;
  std::vector<std::string> command;
  std::string library;
  // Wall-clock limit of one decision.
  TimeDelta decision_limit = TimeDelta::Seconds(1);
};

// Parses {"kind": "program", "command": [...]} or {"kind": "library", "library": PATH}, optionally with "time_limit_s".
// Throws ProgramError; `path` names the value in messages.
CustomControllerSpecification ParseCustomControllerSpecification(const nlohmann::json& value, const std::string& path,
                                                                 const std::string& name);

// Starts controllers. Reuses a program that has served one flow for the next, because interpreters start slowly.
// Thread-safe. Must outlive the code that it starts.
class CustomControllers {
 public:
  // `watch_libraries`: a call into a shared library that exceeds its limit ends this process; see StartLibrary().
  explicit CustomControllers(bool watch_libraries) : watch_libraries_(watch_libraries) {}

  // An error is a sentence with the controller's name.
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

// Loads a shared library and never unloads it. With `watch`, a call into it that exceeds the limit ends this process
// with a message that begins with `about`: there is no other way to stop the call. `watch` requires exclusive use of
// SIGALRM and the timer ITIMER_REAL, and calls from one thread at a time.
Result<std::unique_ptr<CustomCode>> StartLibrary(const std::string& path, const std::string& about,
                                                 const weir_controller_start& start, TimeDelta decision_limit,
                                                 bool watch);

// Starts a new session in `process`. At the end, `take_back` receives the process for reuse unless it has failed.
Result<std::unique_ptr<CustomCode>> StartProgram(std::unique_ptr<LineProcess> process,
                                                 const weir_controller_start& start, TimeDelta decision_limit,
                                                 std::function<void(std::unique_ptr<LineProcess>)> take_back);

// "the controller NAME: WHAT".
std::string AboutController(const std::string& name, const std::string& what);

// Runs in simulated time. The simulation waits for each answer, which makes runs reproducible.
class SimulatedCustomController final : public CustomController {
 public:
  SimulatedCustomController(std::string name, std::unique_ptr<CustomCode> code)
      : CustomController(std::move(name)), code_(std::move(code)) {}

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, code_->interval());
  }
  // Ends the simulation by a ProgramError of status kFailed if the controller gives no usable answer.
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

// Runs in real time on its own thread; no caller waits for it. The target is its latest answer. After a failure it has
// no target, and the estimator's fallback becomes active.
class ConcurrentCustomController final : public CustomController {
 public:
  // Receives sentences for the user: a failure, and finally the number of late answers. Called on either thread, but
  // not after the destructor.
  using Tell = std::function<void(const std::string&)>;

  // `controllers`, which threads may share, starts the controller at the first OnTargetRateConstraints.
  ConcurrentCustomController(const CustomControllerSpecification& specification,
                             std::shared_ptr<CustomControllers> controllers, Tell tell);
  // Does not wait: a thread with a pending answer continues alone and ends with that answer.
  ~ConcurrentCustomController() override;
  ConcurrentCustomController(const ConcurrentCustomController&) = delete;
  ConcurrentCustomController& operator=(const ConcurrentCustomController&) = delete;

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  // Sends the packets as a new question. While an answer is pending, keeps them for the next one.
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  struct Shared;
  static void Answer(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace weir

#endif  // WEIR_PROGRAMS_CUSTOM_CONTROLLERS_H_
