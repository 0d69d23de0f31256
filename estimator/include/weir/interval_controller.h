// Base class of controllers at the receiver that decide at even intervals.
#ifndef WEIR_INTERVAL_CONTROLLER_H_
#define WEIR_INTERVAL_CONTROLLER_H_

#include <algorithm>
#include <utility>

#include "weir/decision_timer.h"
#include "weir/network_controller.h"

namespace weir {

// Handles timing, bounds and round-trip times. The derived class implements name(), OnArrival() and Decide().
class IntervalController : public ReceiverController {
 public:
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    constraints_ = constraints;
    if (!timer_.started()) {
      target_ = constraints.start_rate;
      last_decision_ = constraints.at_time;
      timer_.Start(constraints.at_time, interval_);
    }
    target_ = Bounded(target_);
  }
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    if (IsRoundTripTime(update.round_trip_time)) round_trip_time_ = update.round_trip_time;
  }
  void OnTargetApplied(const TargetTransferRate& target) override { target_ = target.target_rate; }
  ReceiverControlUpdate OnTimeout(Timestamp now) final {
    if (!timer_.Take(now)) return {};
    target_ = Bounded(Decide(now, now - std::exchange(last_decision_, now)));
    return {.target_rate = target_};
  }
  Timestamp next_timeout() const final { return timer_.due(); }

 protected:
  // `interval` is the time between two decisions, above zero.
  explicit IntervalController(TimeDelta interval) : interval_(interval) {}

  // Called once per interval from the first constraints on, later if the host is late. `elapsed` is the time since the
  // previous decision or the start. Returns the target, which is then clamped to the constraints.
  virtual DataRate Decide(Timestamp now, TimeDelta elapsed) = 0;

  bool started() const { return timer_.started(); }
  const TargetRateConstraints& constraints() const { return constraints_; }
  // The rate in force.
  DataRate target() const { return target_; }
  // The latest measurement; kAssumedRoundTripTime before the first.
  TimeDelta round_trip_time() const { return round_trip_time_; }

 private:
  DataRate Bounded(DataRate rate) const { return std::clamp(rate, constraints_.min_rate, constraints_.max_rate); }

  TimeDelta interval_;
  TargetRateConstraints constraints_;
  DataRate target_ = DataRate::Zero();
  TimeDelta round_trip_time_ = kAssumedRoundTripTime;
  Timestamp last_decision_ = Timestamp::MinusInfinity();
  DecisionTimer timer_;
};

}  // namespace weir

#endif  // WEIR_INTERVAL_CONTROLLER_H_
