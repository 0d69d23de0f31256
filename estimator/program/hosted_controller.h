// The next request to an external controller, collected in simulated or in real time.
#ifndef WEIR_PROGRAM_HOSTED_CONTROLLER_H_
#define WEIR_PROGRAM_HOSTED_CONTROLLER_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/decision_timer.h"
#include "program/decision_maker.h"
#include "weir/network_controller.h"

namespace weir::external {

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
  NetworkControlUpdate Bounded(DataRate target, Timestamp now) const {
    NetworkControlUpdate update;
    update.target_rate = TargetTransferRate{now, std::clamp(target, constraints_.min_rate, constraints_.max_rate)};
    return update;
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

// As controllers from outside see them.
weir_controller_packet ToC(const Arrival& arrival);
weir_controller_objective ToC(const Objective& objective);

}  // namespace weir::external

#endif  // WEIR_PROGRAM_HOSTED_CONTROLLER_H_
