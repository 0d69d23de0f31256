// A controller from outside in real time: it is asked on a thread of its own, and whoever calls the functions here
// never waits for it. Its latest answer is the target. When it fails, there is none any more, and the estimator's
// fallback takes its seat.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_CONCURRENT_CONTROLLER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_CONCURRENT_CONTROLLER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "decision_maker.h"
#include "external_controllers.h"
#include "weir/controllers/decision_timer.h"
#include "weir/rate_controller.h"

namespace weir::external {

class ConcurrentController final : public RateController {
 public:
  // Called on either thread with what the user should know, as a sentence: that it failed, and at the end how many of
  // its answers were late. Not after the destructor.
  using Tell = std::function<void(const std::string&)>;

  // It starts with the first OnTargetRateConstraints. `controllers` starts it; several threads may share that.
  ConcurrentController(const ExternalSpecification& specification, std::shared_ptr<ExternalControllers> controllers,
                       Tell tell);
  // Does not wait either: a thread that is still being answered goes on alone, and ends with the answer.
  ~ConcurrentController() override;
  ConcurrentController(const ConcurrentController&) = delete;
  ConcurrentController& operator=(const ConcurrentController&) = delete;

  std::string_view name() const override { return name_; }
  Side side() const override { return Side::kReceiver; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) override;
  void OnObjective(const Objective& objective) override;
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override;
  void OnArrival(const Arrival& arrival) override;
  void OnTargetApplied(DataRate target, Timestamp now) override;
  // Asks anew, unless it is still being answered: then the packets wait for the next time.
  NetworkControlUpdate OnTimeout(Timestamp now) override;
  Timestamp next_timeout() const override { return timer_.due(); }

 private:
  struct Shared;
  static void Answer(const std::shared_ptr<Shared>& shared);

  const std::string name_;
  const std::shared_ptr<Shared> shared_;
  bool started_ = false;
  TargetRateConstraints constraints_;
  Objective objective_;
  int64_t round_trip_time_us_ = 0;
  DataRate target_ = DataRate::Zero();
  std::vector<weir_controller_packet> packets_;
  DecisionTimer timer_;
};

}  // namespace weir::external

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_EXTERNAL_CONCURRENT_CONTROLLER_H_
