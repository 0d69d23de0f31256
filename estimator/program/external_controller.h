// A controller from outside in simulated time: the simulation waits for each of its answers, so that a run is the same
// every time.
#ifndef WEIR_PROGRAM_EXTERNAL_CONTROLLER_H_
#define WEIR_PROGRAM_EXTERNAL_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "program/decision_maker.h"
#include "program/hosted_controller.h"

namespace weir::external {

class ExternalController final : public HostedController {
 public:
  // `on_failure` is called once, from OnTimeout, when it gives no usable answer; it gives no target from then on.
  ExternalController(std::string name, std::unique_ptr<DecisionMaker> maker, std::function<void()> on_failure);

  void OnTargetRateConstraints(const TargetRateConstraints& constraints) override {
    TakeConstraints(constraints, maker_->interval());
  }
  void OnArrival(const Arrival& arrival) override { packets_.push_back(ToC(arrival)); }
  NetworkControlUpdate OnTimeout(Timestamp now) override;

  // The failure with the controller's name; empty without one.
  const std::string& failure() const { return failure_; }

 private:
  const std::unique_ptr<DecisionMaker> maker_;
  const std::function<void()> on_failure_;
  std::string failure_;
  std::vector<weir_controller_packet> packets_;
};

}  // namespace weir::external

#endif  // WEIR_PROGRAM_EXTERNAL_CONTROLLER_H_
