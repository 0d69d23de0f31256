#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "programs/custom_controllers.h"

namespace weir {

// State shared by both threads. The thread keeps it alive after the controller is destroyed.
struct ConcurrentCustomController::Shared {
  Shared(const CustomControllerSpecification& specification, std::shared_ptr<CustomControllers> controllers, Tell tell)
      : specification(specification), controllers(std::move(controllers)), tell(std::move(tell)) {}

  // Called under the mutex. Reports only the first failure.
  void Fail(const std::string& what) {
    if (failed) return;
    failed = true;
    tell(what);
  }

  const CustomControllerSpecification specification;
  const std::shared_ptr<CustomControllers> controllers;

  std::mutex mutex;
  std::condition_variable changed;
  // Empty after the controller is destroyed.
  Tell tell;
  TargetRateConstraints constraints;
  Objective objective;
  // The pending question for the thread. It points into `packets`.
  std::optional<weir_controller_interval> question;
  std::vector<weir_controller_packet> packets;
  // Time of the request in progress or of the start. Empty while the thread is idle.
  std::optional<Timestamp> busy_since;
  bool ready = false;
  bool failed = false;
  TimeDelta interval = CustomCode::kDefaultInterval;
  std::optional<DataRate> target;
  int64_t asked = 0;
  int64_t late = 0;
};

ConcurrentCustomController::ConcurrentCustomController(const CustomControllerSpecification& specification,
                                                       std::shared_ptr<CustomControllers> controllers, Tell tell)
    : CustomController(specification.name),
      shared_(std::make_shared<Shared>(specification, std::move(controllers), std::move(tell))) {}

ConcurrentCustomController::~ConcurrentCustomController() {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->late > 0) {
    shared_->tell(AboutController(shared_->specification.name,
                                  std::to_string(shared_->late) + " of " + std::to_string(shared_->asked) +
                                      " decisions were due before the answer to the one before had come"));
  }
  shared_->tell = nullptr;
  shared_->failed = true;
  shared_->changed.notify_one();
}

void ConcurrentCustomController::OnTargetRateConstraints(const TargetRateConstraints& constraints) {
  if (!TakeConstraints(constraints, CustomCode::kDefaultInterval)) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->constraints = constraints;
  shared_->objective = objective();
  shared_->busy_since = constraints.at_time;
  std::thread(Answer, shared_).detach();
}

ReceiverControlUpdate ConcurrentCustomController::OnTimeout(Timestamp now) {
  if (now < timer_.due()) return {};
  const std::lock_guard lock(shared_->mutex);
  timer_.set_interval(shared_->interval);
  if (!timer_.Take(now)) return {};
  if (shared_->busy_since) {
    const TimeDelta limit = shared_->specification.decision_limit * (shared_->ready ? 1 : kStartLimitFactor);
    if (now - *shared_->busy_since > limit)
      shared_->Fail(AboutController(shared_->specification.name, "it has not answered in time"));
  }
  if (shared_->failed) return {};
  if (shared_->ready) {
    ++shared_->asked;
    if (shared_->busy_since) {
      ++shared_->late;
    } else {
      shared_->busy_since = now;
      std::swap(shared_->packets, packets_);
      packets_.clear();
      shared_->question = Question(shared_->packets, now);
      shared_->changed.notify_one();
    }
  }
  return Bounded(shared_->target.value_or(target()));
}

// Runs on the thread.
void ConcurrentCustomController::Answer(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  const auto constraints = shared->constraints;
  const auto objective = shared->objective;
  lock.unlock();
  constexpr uint64_t kSeed = 1;
  auto code = shared->controllers->Start(shared->specification, constraints, objective, kSeed);
  lock.lock();
  if (!code) return shared->Fail(code.error());
  shared->ready = true;
  shared->interval = code.value()->interval();
  while (!shared->failed) {
    shared->busy_since.reset();
    shared->changed.wait(lock, [&] { return shared->question || shared->failed; });
    if (shared->failed) break;
    const weir_controller_interval question = *shared->question;
    shared->question.reset();
    lock.unlock();
    const Result<DataRate> target = code.value()->Decide(question);
    lock.lock();
    if (target) {
      shared->target = target.value();
    } else {
      shared->Fail(AboutController(shared->specification.name, target.error()));
    }
  }
  // Unlocks so that no caller waits while `maker` shuts down.
  lock.unlock();
}

}  // namespace weir
