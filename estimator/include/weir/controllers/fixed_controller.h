// A constant target, whatever arrives: for tests and as a yardstick.
#ifndef WEIR_CONTROLLERS_FIXED_CONTROLLER_H_
#define WEIR_CONTROLLERS_FIXED_CONTROLLER_H_

#include "weir/rate_controller.h"

namespace weir {

// The host's constraints bound the target. Speaks once per change of constraints, and once
// more when the first packet has come: nothing counts before.
class FixedController final : public RateController {
 public:
  explicit FixedController(DataRate target) : wanted_(target) {}

  std::string_view name() const override { return "fixed"; }
  Side side() const override { return Side::kReceiver; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) override;
  void OnArrival(const Arrival& arrival) override;
  NetworkControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return next_timeout_; }

 private:
  DataRate wanted_;
  bool any_packets_ = false;
  TargetRateConstraints constraints_;
  Timestamp next_timeout_ = Timestamp::PlusInfinity();
};

}  // namespace weir

#endif  // WEIR_CONTROLLERS_FIXED_CONTROLLER_H_
