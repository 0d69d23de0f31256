// A constant target, for tests and as a baseline.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_FIXED_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_FIXED_CONTROLLER_H_

#include "weir/network_controller.h"

namespace weir {

// The host's constraints bound the target. Decides once per change of constraints, and once more after the first
// packet, before which no target applies.
class FixedController final : public ReceiverController {
 public:
  explicit FixedController(DataRate target) : wanted_(target) {}

  std::string_view name() const override { return "fixed"; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override;
  void OnObjective(const Objective&) override {}
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(const TargetTransferRate&) override {}
  ReceiverControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  DataRate wanted_;
  bool any_packets_ = false;
  TargetRateConstraints constraints_;
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_FIXED_CONTROLLER_H_
