#include "controllers/inline_custom_controller.h"

namespace weir {

void InlineCustomController::OnObjective(const Objective& objective) {
  CustomController::OnObjective(objective);
  if (std::exchange(started_, true)) return;
  auto started = starter_(StartRequest(constraints(), objective, /*seed=*/1));
  if (!started) return;
  code_ = std::move(started.value());
  timer_.Start(constraints().at_time, code_->interval());
}

ReceiverControlUpdate InlineCustomController::OnTimeout(Timestamp now) {
  if (!timer_.Take(now)) return {};
  Result<DataRate> target = code_ ? code_->Decide(Question(packets_, now)) : Error{"it did not start"};
  packets_.clear();
  return target ? Bounded(target.value()) : ReceiverControlUpdate{};
}

}  // namespace weir
