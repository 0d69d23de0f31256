// An external controller in real time. It runs on a thread of its own, and no caller waits for it. Its latest answer is
// the target. After a failure it has no target, and the estimator's fallback becomes active.
#ifndef WEIR_PROGRAM_CONCURRENT_CONTROLLER_H_
#define WEIR_PROGRAM_CONCURRENT_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "program/decision_maker.h"
#include "program/external_controllers.h"
#include "program/hosted_controller.h"

namespace weir::external {

class ConcurrentController final : public HostedController {
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
  void OnArrival(const Arrival& arrival) override;
  // Asks anew, unless it is still being answered: then the packets wait for the next time.
  NetworkControlUpdate OnTimeout(Timestamp now) override;

 private:
  struct Shared;
  static void Answer(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
  std::vector<weir_controller_packet> packets_;
};

}  // namespace weir::external

#endif  // WEIR_PROGRAM_CONCURRENT_CONTROLLER_H_
