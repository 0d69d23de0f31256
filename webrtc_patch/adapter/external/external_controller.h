// A controller from outside in simulated time: the simulation waits for each of its answers, so that a run is the same
// every time.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_EXTERNAL_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_EXTERNAL_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decision_maker.h"
#include "weir/controllers/decision_timer.h"
#include "weir/rate_controller.h"

namespace weir::external {

// The packet as controllers from outside see it.
weir_controller_packet ToC(const Arrival& arrival);

class ExternalController final : public RateController {
 public:
  // `on_failure` is called once, from OnTimeout, when it gives no usable answer; it gives no target from then on.
  ExternalController(std::string name, std::unique_ptr<DecisionMaker> maker, std::function<void()> on_failure);

  std::string_view name() const override { return name_; }
  Side side() const override { return Side::kReceiver; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) override;
  void OnObjective(const Objective& objective) override;
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override { packets_.push_back(ToC(arrival)); }
  void OnTargetApplied(DataRate target, Timestamp) override { target_ = target; }
  NetworkControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return timer_.due(); }

  // What it did wrong, with its name; empty while all is well.
  const std::string& failure() const { return failure_; }

 private:
  const std::string name_;
  const std::unique_ptr<DecisionMaker> maker_;
  const std::function<void()> on_failure_;
  std::string failure_;
  TargetRateConstraints constraints_;
  weir_controller_objective objective_{};
  int64_t round_trip_time_us_ = 0;
  DataRate target_ = DataRate::Zero();
  std::vector<weir_controller_packet> packets_;
  DecisionTimer timer_;
};

}  // namespace weir::external

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_EXTERNAL_CONTROLLER_H_
