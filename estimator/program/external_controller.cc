#include "program/external_controller.h"

#include <utility>

#include "program/external_controllers.h"

namespace weir::external {

ExternalController::ExternalController(std::string name, std::unique_ptr<DecisionMaker> maker,
                                       std::function<void()> on_failure)
    : HostedController(std::move(name)), maker_(std::move(maker)), on_failure_(std::move(on_failure)) {}

NetworkControlUpdate ExternalController::OnTimeout(Timestamp now) {
  if (!failure_.empty() || !timer_.Take(now)) return {};
  const Result<DataRate> target = maker_->Decide(Question(packets_, now));
  packets_.clear();
  if (target) return Bounded(target.value(), now);
  failure_ = AboutController(std::string(name()), target.error());
  on_failure_();
  return {};
}

}  // namespace weir::external
