// Custom controllers: those that a user supplies. A CustomCode is the user's code, in any form, and decides; a
// CustomController is the receiver controller that collects its packets, and decides when it runs:
//
//   InlineCustomController      in the host's call             C functions, a Python class
//   SimulatedCustomController   in simulated time, waited for  a program, a shared library (programs/)
//   ConcurrentCustomController  on a thread of its own         a program, a shared library (programs/)
//
// All use the structures of weir_controller.h.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_CUSTOM_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_CUSTOM_CONTROLLER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../c/weir_controller.h"
#include "controllers/decision_timer.h"
#include "weir/network_controller.h"
#include "weir/result.h"

namespace weir {

// The code of one custom controller, started. Its errors are sentences for the code's author.
class CustomCode {
 public:
  static constexpr TimeDelta kDefaultInterval = TimeDelta::Millis(100);

  virtual ~CustomCode() = default;

  // Called with the packets of every `interval()`.
  virtual Result<DataRate> Decide(const weir_controller_interval& interval) = 0;
  virtual TimeDelta interval() const = 0;
};

// By PacketKind.
inline constexpr std::array<std::string_view, 4> kPacketKinds{"video", "audio", "probe", "retransmission"};

// Checks a target, which may be any number: 0 to 10^12 bit/s.
Result<DataRate> CheckedTarget(double target_bps);
// 5 ms to 10 s.
Result<TimeDelta> CheckedInterval(double interval_us);

// Checks the version, the pointers and the interval.
[[nodiscard]] std::optional<Error> CheckFunctions(const weir_controller_functions* functions);
// Calls create(); `functions`, which have been checked, are copied. A C++ exception is an error.
Result<std::unique_ptr<CustomCode>> StartFunctions(const weir_controller_functions& functions,
                                                   const weir_controller_start& start);

weir_controller_start StartRequest(const TargetRateConstraints& constraints, const Objective& objective, uint64_t seed);

// Collects the packets of an interval, which are the next request to the code.
class CustomController : public ReceiverController {
 public:
  std::string_view name() const override { return name_; }

  void OnObjective(const Objective& objective) override { objective_ = objective; }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    round_trip_time_us_ = update.round_trip_time.us();
  }
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(const TargetTransferRate& target) override { target_ = target.target_rate; }
  Timestamp next_timeout() const override { return timer_.due(); }

 protected:
  // The most packets that wait for a decision; the rest are dropped.
  static constexpr size_t kMaxPackets = 1 << 18;

  explicit CustomController(std::string name) : name_(std::move(name)) {}

  // Stores the bounds. True the first time, when the call begins with its start rate.
  bool TakeConstraints(const TargetRateConstraints& constraints, TimeDelta interval);
  // The request about `packets`, which outlive it.
  weir_controller_interval Question(const std::vector<weir_controller_packet>& packets, Timestamp now) const;
  // The target within the bounds of the call.
  ReceiverControlUpdate Bounded(DataRate target) const {
    return {.target_rate = std::clamp(target, constraints_.min_rate, constraints_.max_rate)};
  }

  const TargetRateConstraints& constraints() const { return constraints_; }
  const Objective& objective() const { return objective_; }
  // In force.
  DataRate target() const { return target_; }

  DecisionTimer timer_;
  std::vector<weir_controller_packet> packets_;

 private:
  const std::string name_;
  TargetRateConstraints constraints_;
  Objective objective_;
  int64_t round_trip_time_us_ = 0;
  DataRate target_ = DataRate::Zero();
};

// Runs its code on the host's thread, within OnTimeout(). A start or decision that fails is a missing target, which is
// a fault.
class InlineCustomController final : public CustomController {
 public:
  using Starter = std::function<Result<std::unique_ptr<CustomCode>>(const weir_controller_start& start)>;

  InlineCustomController(std::string name, Starter starter)
      : CustomController(std::move(name)), starter_(std::move(starter)) {}

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, CustomCode::kDefaultInterval);
  }
  // Starts the code: the first objective follows the first constraints.
  void OnObjective(const Objective& objective) override;
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  const Starter starter_;
  bool started_ = false;
  std::unique_ptr<CustomCode> code_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_CUSTOM_CONTROLLER_H_
