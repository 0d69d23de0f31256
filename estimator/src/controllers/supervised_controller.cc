#include "weir/supervised_controller.h"

#include "controllers/supervisor.h"

namespace weir {
namespace {

class ControllerWithFallback final : public Supervisor<SupervisedController> {
 public:
  ControllerWithFallback(std::unique_ptr<ReceiverController> controller, std::unique_ptr<ReceiverController> fallback)
      : Supervisor(std::move(fallback)), state_{.name = std::string(controller->name())} {
    Add(std::move(controller));
  }

  std::string_view name() const override { return state_.name; }
  const ControllerState& active() const override { return state_; }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    bool decided = Poll(0, state_, /*is_active=*/true, now);
    decided |= PollFallback(now);
    return decided ? Update() : ReceiverControlUpdate{};
  }

 private:
  ControllerState state_;
};

}  // namespace

std::unique_ptr<SupervisedController> SupervisedController::Of(std::unique_ptr<ReceiverController> controller,
                                                               std::unique_ptr<ReceiverController> fallback) {
  if (controller && controller->AsSupervised())
    return std::unique_ptr<SupervisedController>(controller.release()->AsSupervised());
  return std::make_unique<ControllerWithFallback>(OrRule(std::move(controller)), std::move(fallback));
}

}  // namespace weir
