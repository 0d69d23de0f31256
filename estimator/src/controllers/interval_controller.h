// Base class of controllers at the receiver that decide at even intervals, and sums over the last intervals.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_INTERVAL_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_INTERVAL_CONTROLLER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "controllers/decision_timer.h"
#include "weir/network_controller.h"

namespace weir {

// Handles timing and constraints. The derived class turns arrivals into a rate.
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
  // `interval` is above zero.
  explicit IntervalController(TimeDelta interval) : interval_(interval) {}

  // Returns the target before the constraints bound it. `elapsed` is the time since the previous decision or the start.
  virtual DataRate Decide(Timestamp now, TimeDelta elapsed) = 0;

  bool started() const { return timer_.started(); }
  const TargetRateConstraints& constraints() const { return constraints_; }
  // In force.
  DataRate target() const { return target_; }
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

// Sums over the packets of one or several intervals.
struct IntervalSums {
  TimeDelta duration = TimeDelta::Zero();
  DataSize size = DataSize::Zero();
  int64_t packets = 0;
  // Late arrivals count against losses.
  int64_t lost = 0;
  TimeDelta min_queueing_delay = TimeDelta::PlusInfinity();
  TimeDelta max_queueing_delay = TimeDelta::Zero();

  void Add(const IntervalSums& other) {
    duration += other.duration;
    size += other.size;
    packets += other.packets;
    lost += other.lost;
    min_queueing_delay = std::min(min_queueing_delay, other.min_queueing_delay);
    max_queueing_delay = std::max(max_queueing_delay, other.max_queueing_delay);
  }
  DataRate ReceiveRate() const { return duration > TimeDelta::Zero() ? size / duration : DataRate::Zero(); }
};

// The arrivals of the last kCount intervals.
template <size_t kCount>
class RecentIntervals {
 public:
  void OnArrival(const Arrival& arrival) {
    ring_[present_].Add({.size = arrival.packet.size(),
                         .packets = 1,
                         .lost = arrival.lost_change,
                         .min_queueing_delay = arrival.queueing_delay,
                         .max_queueing_delay = arrival.queueing_delay});
  }

  struct Ended {
    IntervalSums latest;
    IntervalSums all;
  };
  // Ends the present interval and begins the next.
  Ended End(TimeDelta duration) {
    ring_[present_].duration = duration;
    Ended ended{.latest = ring_[present_], .all = {}};
    for (const IntervalSums& one : ring_) ended.all.Add(one);
    present_ = (present_ + 1) % kCount;
    ring_[present_] = {};
    return ended;
  }

 private:
  std::array<IntervalSums, kCount> ring_;
  size_t present_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_INTERVAL_CONTROLLER_H_
