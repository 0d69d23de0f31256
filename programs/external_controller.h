// Custom controllers in another process or library: one in simulated time, which waits for each answer, and one in real
// time, which waits for none.
#ifndef WEIR_PROGRAMS_EXTERNAL_CONTROLLER_H_
#define WEIR_PROGRAMS_EXTERNAL_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "controllers/custom_controller.h"
#include "programs/external_controllers.h"
#include "programs/input.h"

namespace weir::external {

// In simulated time: the simulation waits for each of its answers, so that a run is the same every time.
class ExternalController final : public CustomController {
 public:
  ExternalController(std::string name, std::unique_ptr<DecisionMaker> maker)
      : CustomController(std::move(name)), maker_(std::move(maker)) {}

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, maker_->interval());
  }
  // Throws ProgramError of status kFailed where the controller gives no usable answer: the simulation ends.
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    if (!timer_.Take(now)) return {};
    const Result<DataRate> target = maker_->Decide(Question(packets_, now));
    packets_.clear();
    if (!target) throw ProgramError(AboutController(std::string(name()), target.error()), kFailed);
    return Bounded(target.value());
  }

 private:
  const std::unique_ptr<DecisionMaker> maker_;
};

// In real time. It runs on a thread of its own, and no caller waits for it. Its latest answer is the target. After a
// failure it has no target, and the estimator's fallback becomes active.
class ConcurrentController final : public CustomController {
 public:
  // Called on either thread with what the user should know, as a sentence: that it failed, and at the end how many of
  // its answers were late. Not after the destructor.
  using Tell = std::function<void(const std::string&)>;

  // It starts with the first OnTargetRateConstraints. `controllers` starts it; several threads may share that.
  ConcurrentController(const ExternalSpecification& specification, std::shared_ptr<ExternalControllers> controllers,
                       Tell tell);
  // Does not wait either: a thread that is still being answered goes on alone, and ends with the answer.
  ~ConcurrentController() override;
  ConcurrentController(const ConcurrentController&) = delete;
  ConcurrentController& operator=(const ConcurrentController&) = delete;

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  // Asks anew, unless it is still being answered: then the packets wait for the next time.
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  struct Shared;
  static void Answer(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
};

}  // namespace weir::external

#endif  // WEIR_PROGRAMS_EXTERNAL_CONTROLLER_H_
