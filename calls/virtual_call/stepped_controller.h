// Wraps a controller that runs within libwebrtc in virtual calls.
#ifndef WEIR_CALLS_VIRTUAL_CALL_STEPPED_CONTROLLER_H_
#define WEIR_CALLS_VIRTUAL_CALL_STEPPED_CONTROLLER_H_

#include <memory>
#include <string_view>
#include <utility>

#include "virtual_call/virtual_clock.h"
#include "weir/network_controller.h"

namespace weir::sim {

// Advances the simulator to libwebrtc's clock before each decision, so that a controller that reads the simulator's
// state reads the current one. Stores exceptions, which must not pass through libwebrtc.
class SteppedController final : public ReceiverController {
 public:
  SteppedController(std::unique_ptr<ReceiverController> controller, VirtualClock* clock)
      : controller_(std::move(controller)), clock_(clock) {}

  std::string_view name() const override { return controller_->name(); }
  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    clock_->Guarded([&] { controller_->OnTargetRateConstraints(constraints); });
  }
  void OnObjective(const Objective& objective) override {
    clock_->Guarded([&] { controller_->OnObjective(objective); });
  }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    clock_->Guarded([&] { controller_->OnRoundTripTimeUpdate(update); });
  }
  void OnArrival(const Arrival& arrival) override {
    clock_->Guarded([&] { controller_->OnArrival(arrival); });
  }
  void OnTargetApplied(const TargetTransferRate& target) override {
    clock_->Guarded([&] { controller_->OnTargetApplied(target); });
  }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    clock_->StepToNow();
    ReceiverControlUpdate update;
    if (!clock_->failed()) clock_->Guarded([&] { update = controller_->OnTimeout(now); });
    return update;
  }
  Timestamp next_timeout() const override {
    return clock_->failed() ? Timestamp::PlusInfinity() : controller_->next_timeout();
  }

 private:
  const std::unique_ptr<ReceiverController> controller_;
  VirtualClock* const clock_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_STEPPED_CONTROLLER_H_
