// Interval statistics of what an estimator sees, for the log of its decisions.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_DECISION_RECORDER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_DECISION_RECORDER_H_

#include <string_view>

#include "weir/arrival/interval_accumulator.h"
#include "weir/rate_controller.h"

namespace weir::adapter {

// Sits among the copilots, sees every arrival and every target applied, and never has an opinion: the estimator decides
// as if it were not there.
class DecisionRecorder final : public RateController {
 public:
  std::string_view name() const override { return "decision_recorder"; }
  Side side() const override { return Side::kReceiver; }

  void OnTargetRateConstraints(const TargetRateConstraints& constraints, Timestamp now) override {
    if (started_) return;
    started_ = true;
    target_ = constraints.start_rate;
    accumulator_.Start(now);
  }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    accumulator_.OnRoundTripTime(update.round_trip_time);
  }
  void OnArrival(const Arrival& arrival) override { accumulator_.OnArrival(arrival); }
  void OnTargetApplied(DataRate, Timestamp) override { decided_ = true; }
  NetworkControlUpdate OnTimeout(Timestamp) override { return {}; }
  Timestamp next_timeout() const override { return Timestamp::PlusInfinity(); }

  // Whether a target was applied since the last Take().
  bool decided() const { return decided_; }
  // Ends the interval; `target` is in force from now on.
  IntervalStatistics Take(Timestamp now, DataRate target) {
    const IntervalStatistics statistics = accumulator_.Take(now, target_);
    target_ = target;
    decided_ = false;
    return statistics;
  }

 private:
  IntervalAccumulator accumulator_;
  DataRate target_ = DataRate::Zero();
  bool started_ = false;
  bool decided_ = false;
};

}  // namespace weir::adapter

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_DECISION_RECORDER_H_
