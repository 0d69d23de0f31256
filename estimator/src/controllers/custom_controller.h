// Controllers that are not the library's: a host's own, in C or Python, and those of replays and calls. All speak the
// terms of weir_controller.h.
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

// Decides for a custom controller. Its errors are sentences for the controller's author.
class DecisionMaker {
 public:
  static constexpr TimeDelta kDefaultInterval = TimeDelta::Millis(100);

  virtual ~DecisionMaker() = default;

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
Result<std::unique_ptr<DecisionMaker>> StartFunctions(const weir_controller_functions& functions,
                                                      const weir_controller_start& start);

weir_controller_start StartRequest(const TargetRateConstraints& constraints, const Objective& objective, uint64_t seed);

// Collects the next request.
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

// A host's own, on the host's thread. A start or decision that fails is a missing target, which is a fault.
class HostController final : public CustomController {
 public:
  using Starter = std::function<Result<std::unique_ptr<DecisionMaker>>(const weir_controller_start& start)>;

  HostController(std::string name, Starter starter) : CustomController(std::move(name)), starter_(std::move(starter)) {}

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, DecisionMaker::kDefaultInterval);
  }
  // Starts the controller: the first objective follows the first constraints.
  void OnObjective(const Objective& objective) override;
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  const Starter starter_;
  bool started_ = false;
  std::unique_ptr<DecisionMaker> maker_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_CUSTOM_CONTROLLER_H_
