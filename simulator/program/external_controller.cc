#include "program/external_controller.h"

namespace weir::external {

ReceiverControlUpdate ExternalController::OnTimeout(Timestamp now) {
  if (!failure_.empty() || !timer_.Take(now)) return {};
  const Result<DataRate> target = maker_->Decide(Question(packets_, now));
  packets_.clear();
  if (target) return Bounded(target.value());
  failure_ = AboutController(std::string(name()), target.error());
  on_failure_();
  return {};
}

}  // namespace weir::external
