// A controller with targets from a test.
#ifndef WEIR_TESTS_ESTIMATOR_SCRIPTED_CONTROLLER_H_
#define WEIR_TESTS_ESTIMATOR_SCRIPTED_CONTROLLER_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "weir/network_controller.h"

namespace weir {

// Ignores every event; a test overrides what it needs.
class IgnorantController : public ReceiverController {
 public:
  void OnTargetRateConstraints(const TargetRateConstraints&) override {}
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}
  void OnArrival(const Arrival&) override {}
  void OnTargetApplied(const TargetTransferRate&) override {}
};

// Returns the script's target every 100 ms. A missing target is a fault.
class ScriptedController final : public ReceiverController {
 public:
  using Script = std::function<std::optional<DataRate>(int decision)>;
  explicit ScriptedController(Script script) : script_(std::move(script)) {}

  std::string_view name() const override { return "scripted"; }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    ++constraints_calls;
    if (next_.IsPlusInfinity()) next_ = constraints.at_time + TimeDelta::Millis(100);
  }
  void OnObjective(const Objective& value) override { objective = value; }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override { round_trip_time = update.round_trip_time; }
  void OnArrival(const Arrival&) override { ++arrivals; }
  void OnTargetApplied(const TargetTransferRate& target) override { applied.push_back(target.target_rate); }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    next_ = now + TimeDelta::Millis(100);
    return {.target_rate = script_(decision_++)};
  }
  Timestamp next_timeout() const override { return next_; }

  int constraints_calls = 0;
  int arrivals = 0;
  Objective objective;
  std::optional<TimeDelta> round_trip_time;
  std::vector<DataRate> applied;

 private:
  Script script_;
  int decision_ = 0;
  Timestamp next_ = Timestamp::PlusInfinity();
};

inline std::unique_ptr<ScriptedController> Always(DataRate rate) {
  return std::make_unique<ScriptedController>([rate](int) { return rate; });
}

}  // namespace weir

#endif  // WEIR_TESTS_ESTIMATOR_SCRIPTED_CONTROLLER_H_
