// Custom controllers: those that a user supplies. A CustomCode is the user's code, in any form, and decides; a
// CustomController is the receiver controller that collects its packets, and decides when it runs:
//
//   InlineCustomController      in the host's call             C functions, a Python class (the library)
//   SimulatedCustomController   in simulated time, waited for  a program, a shared library (programs/)
//   ConcurrentCustomController  on a thread of its own         a program, a shared library (programs/)
//
// All use the structures of weir_controller.h. docs/write_a_custom_controller.md is for the code's author.
#ifndef WEIR_CUSTOM_CONTROLLER_H_
#define WEIR_CUSTOM_CONTROLLER_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/decision_timer.h"
#include "weir/network_controller.h"
#include "weir/objective.h"
#include "weir/result.h"
#include "weir/units.h"
#include "weir_controller.h"

namespace weir {

// The user's code of one custom controller in one call, started: C functions, a program, a class. Its errors are
// sentences for the code's author.
class CustomCode {
 public:
  static constexpr TimeDelta kDefaultInterval = TimeDelta::Millis(100);

  virtual ~CustomCode() = default;

  // Called once for each `interval()`, with its packets, the target in force, the objective and the round-trip time, in
  // the units of weir_controller.h. `interval.packets` are valid during the call. Returns the target, 0 to 10^12 bit/s
  // (CheckedTarget()); the bounds of the call apply to it later. An error is a fault of the controller.
  virtual Result<DataRate> Decide(const weir_controller_interval& interval) = 0;
  // Called once, after the start. Returns the time between two decisions, 5 ms to 10 s (CheckedInterval()).
  virtual TimeDelta interval() const = 0;
};

// Names of the values of PacketKind, in their order.
inline constexpr std::array<std::string_view, 4> kPacketKinds{"video", "audio", "probe", "retransmission"};

// Checks a target of user code, which may be any number: 0 to 10^12 bit/s.
Result<DataRate> CheckedTarget(double target_bps);
// Checks an interval of user code: 5 ms to 10 s.
Result<TimeDelta> CheckedInterval(double interval_us);

// Checks the version, the pointers and the interval of C functions.
[[nodiscard]] std::optional<Error> CheckFunctions(const weir_controller_functions* functions);
// Calls create(); `functions`, which have been checked, are copied. A C++ exception is an error.
Result<std::unique_ptr<CustomCode>> StartFunctions(const weir_controller_functions& functions,
                                                   const weir_controller_start& start);

// Returns the message that starts custom code, without an argument of the user.
weir_controller_start StartRequest(const TargetRateConstraints& constraints, const Objective& objective, uint64_t seed);

// Collects the packets of an interval, which are the next request to the code. A derived class implements OnTimeout():
// when `timer_` is due, it passes Question() to its CustomCode, clears `packets_`, and returns Bounded() of the answer,
// or no target if there is none.
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

  // Called from OnTargetRateConstraints(). Stores the bounds, and starts `timer_` the first time, when the call begins
  // with its start rate; it then returns true.
  bool TakeConstraints(const TargetRateConstraints& constraints, TimeDelta interval);
  // Returns the request about `packets`, which outlive it.
  weir_controller_interval Question(const std::vector<weir_controller_packet>& packets, Timestamp now) const;
  // Returns the target within the bounds of the call.
  ReceiverControlUpdate Bounded(DataRate target) const {
    return {.target_rate = std::clamp(target, constraints_.min_rate, constraints_.max_rate)};
  }

  const TargetRateConstraints& constraints() const { return constraints_; }
  const Objective& objective() const { return objective_; }
  // The rate in force.
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

}  // namespace weir

#endif  // WEIR_CUSTOM_CONTROLLER_H_
