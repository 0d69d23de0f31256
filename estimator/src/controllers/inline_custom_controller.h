// Custom controllers whose code runs in the host's call: C functions and Python classes.
#ifndef WEIR_ESTIMATOR_SRC_CONTROLLERS_INLINE_CUSTOM_CONTROLLER_H_
#define WEIR_ESTIMATOR_SRC_CONTROLLERS_INLINE_CUSTOM_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "weir/custom_controller.h"

namespace weir {

// Runs its code on the host's thread, within OnTimeout(). A start or decision that fails is a missing target, which is
// a fault.
class InlineCustomController final : public CustomController {
 public:
  using Starter = std::function<Result<std::unique_ptr<CustomCode>>(const weir_controller_start& start)>;

  InlineCustomController(std::string name, Starter starter)
      : CustomController(std::move(name)), starter_(std::move(starter)) {}

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, CustomCode::kDefaultInterval);
  }
  // Starts the code: the first objective follows the first constraints.
  void OnObjective(const Objective& objective) override;
  ReceiverControlUpdate OnTimeout(Timestamp now) override;

 private:
  const Starter starter_;
  bool started_ = false;
  std::unique_ptr<CustomCode> code_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_CONTROLLERS_INLINE_CUSTOM_CONTROLLER_H_
