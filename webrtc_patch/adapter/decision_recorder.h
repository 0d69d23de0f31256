// Interval statistics of what an estimator sees, for the log of its decisions.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_DECISION_RECORDER_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_DECISION_RECORDER_H_

#include "arrival/interval_accumulator.h"
#include "weir/bandwidth_estimator.h"

namespace weir::adapter {

class DecisionRecorder final : public EstimatorObserver {
 public:
  void OnTarget(const TargetTransferRate& target) override {
    decided_ = true;
    if (started_) return;
    started_ = true;
    target_ = target.target_rate;
    accumulator_.Start(target.at_time);
  }
  void OnArrival(const Arrival& arrival) override { accumulator_.OnArrival(arrival); }
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate& update) override {
    accumulator_.OnRoundTripTime(update.round_trip_time);
  }

  // True if there was a decision since the last Take(); the start is one.
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
