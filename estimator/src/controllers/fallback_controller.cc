#include "weir/fallback_controller.h"

#include "controllers/polling_controller.h"
#include "controllers/rule_controller.h"

namespace weir {
namespace {

class FallbackController final : public PollingController<FaultTolerantController> {
 public:
  FallbackController(std::unique_ptr<ReceiverController> controller, std::unique_ptr<ReceiverController> fallback)
      : PollingController(std::move(fallback)) {
    controller = OrRule(std::move(controller));
    std::string name(controller->name());
    AddMember(std::move(name), std::move(controller));
  }

  std::string_view name() const override { return active().name; }
  const MemberState& active() const override { return members_[0]; }
  ReceiverControlUpdate OnTimeout(Timestamp now) override {
    const bool polled = Poll(0, /*is_active=*/true, now);
    return PollFallback(now) || polled ? ActiveUpdate() : ReceiverControlUpdate();
  }
};

}  // namespace

std::unique_ptr<ReceiverController> OrRule(std::unique_ptr<ReceiverController> controller) {
  if (controller) return controller;
  return std::make_unique<RuleController>(RuleOptions{.tolerate_sparse_packets = true});
}

std::unique_ptr<FaultTolerantController> MakeFallbackController(std::unique_ptr<ReceiverController> controller,
                                                                std::unique_ptr<ReceiverController> fallback) {
  return std::make_unique<FallbackController>(std::move(controller), std::move(fallback));
}

}  // namespace weir
