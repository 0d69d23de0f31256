// External controllers as receiver controllers: one in simulated time, which waits for each answer, and one in real
// time, which waits for none.
#ifndef WEIR_PROGRAM_HOSTED_CONTROLLER_H_
#define WEIR_PROGRAM_HOSTED_CONTROLLER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/decision_timer.h"
#include "program/decision_maker.h"
#include "program/external_controllers.h"
#include "weir/network_controller.h"

namespace weir::external {

// As controllers from outside see them.
weir_controller_packet ToC(const Arrival& arrival);
weir_controller_objective ToC(const Objective& objective);

// Collects the next request.
class HostedController : public ReceiverController {
 public:
  std::string_view name() const override { return name_; }

  void OnObjective(const Objective& objective) override { objective_ = objective; }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    round_trip_time_us_ = update.round_trip_time.us();
  }
  void OnTargetApplied(const TargetTransferRate& target) override { target_ = target.target_rate; }
  Timestamp next_timeout() const override { return timer_.due(); }

 protected:
  explicit HostedController(std::string name) : name_(std::move(name)) {}

  // Takes the bounds. True the first time, when the call begins with its start rate.
  bool TakeConstraints(const TargetRateConstraints& constraints, TimeDelta interval);
  // About `packets`, which outlive the question.
  weir_controller_interval Question(const std::vector<weir_controller_packet>& packets, Timestamp now) const;
  // The target within the bounds of the call.
  ReceiverControlUpdate Bounded(DataRate target) const {
    return {.target_rate = std::clamp(target, constraints_.min_rate, constraints_.max_rate)};
  }

  const Objective& objective() const { return objective_; }
  // In force.
  DataRate target() const { return target_; }

  DecisionTimer timer_;

 private:
  const std::string name_;
  TargetRateConstraints constraints_;
  Objective objective_;
  int64_t round_trip_time_us_ = 0;
  DataRate target_ = DataRate::Zero();
};

// In simulated time: the simulation waits for each of its answers, so that a run is the same every time.
class ExternalController final : public HostedController {
 public:
  // `on_failure` is called once, from OnTimeout, when it gives no usable answer; it gives no target from then on.
  ExternalController(std::string name, std::unique_ptr<DecisionMaker> maker, std::function<void()> on_failure);

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, maker_->interval());
  }
  void OnArrival(const Arrival& arrival) override { packets_.push_back(ToC(arrival)); }
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

  // The failure with the controller's name; empty without one.
  const std::string& failure() const { return failure_; }

 private:
  const std::unique_ptr<DecisionMaker> maker_;
  const std::function<void()> on_failure_;
  std::string failure_;
  std::vector<weir_controller_packet> packets_;
};

// In real time. It runs on a thread of its own, and no caller waits for it. Its latest answer is the target. After a
// failure it has no target, and the estimator's fallback becomes active.
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
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  struct Shared;
  static void Answer(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;
  std::vector<weir_controller_packet> packets_;
};

}  // namespace weir::external

#endif  // WEIR_PROGRAM_HOSTED_CONTROLLER_H_
