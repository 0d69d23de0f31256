// A controller whose every answer a test gives.
#ifndef WEIR_TESTS_ESTIMATOR_SCRIPTED_CONTROLLER_H_
#define WEIR_TESTS_ESTIMATOR_SCRIPTED_CONTROLLER_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "weir/rate_controller.h"

namespace weir {

// Says every 100 ms what a script makes it say; no rate is a fault.
class ScriptedController final : public RateController {
 public:
  using Script = std::function<std::optional<DataRate>(int decision)>;
  explicit ScriptedController(Script script) : script_(std::move(script)) {}

  std::string_view name() const override { return "scripted"; }
  Side side() const override { return Side::kReceiver; }
  void OnTargetRateConstraints(const TargetRateConstraints&, Timestamp now) override {
    ++constraints_calls;
    if (next_.IsPlusInfinity()) next_ = now + TimeDelta::Millis(100);
  }
  void OnObjective(const Objective& value) override { objective = value; }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override { round_trip_time = update.round_trip_time; }
  void OnArrival(const Arrival&) override { ++arrivals; }
  void OnTargetApplied(DataRate target, Timestamp) override { applied.push_back(target); }
  NetworkControlUpdate OnTimeout(Timestamp now) override {
    next_ = now + TimeDelta::Millis(100);
    NetworkControlUpdate update;
    if (const auto rate = script_(decision_++)) update.target_rate = TargetTransferRate{now, *rate};
    return update;
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
