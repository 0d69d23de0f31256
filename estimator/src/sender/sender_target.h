// The target in force at the sender.
#ifndef WEIR_ESTIMATOR_SRC_SENDER_SENDER_TARGET_H_
#define WEIR_ESTIMATOR_SRC_SENDER_SENDER_TARGET_H_

#include <algorithm>
#include <memory>
#include <optional>

#include "probe/probe_controller.h"
#include "weir/network_types.h"
#include "weir/result.h"
#include "weir/send_side_estimator.h"
#include "weir/units.h"

namespace weir {

// The estimator's target; once media in layers has a desired rate, that of the ProbeController.
class SenderTarget {
 public:
  // `probes_start` as in SendSideEstimatorConfig.
  SenderTarget(DataRate start_rate, const TargetRateConstraints& constraints, bool probes_start)
      : rate_(start_rate),
        constraints_(constraints),
        probes_(probes_start ? std::make_unique<ProbeController>(start_rate, true) : nullptr) {}

  DataRate rate() const { return rate_; }
  // Host time of the latest change; MinusInfinity before the start.
  Timestamp at_time() const { return at_time_; }

  void Start(Timestamp host_now) { at_time_ = host_now; }
  // Called after each call that may change BandwidthEstimator::latest(), with its target, or the probes.
  void Update(DataRate estimate, Timestamp host_now) {
    // The guard's rule "bounds" has bounded the estimate. A rate that probes have shown is a rate of the path and has
    // not passed the guard.
    const DataRate rate =
        probes_ ? std::clamp(probes_->TargetRate(estimate), constraints_.min_rate, constraints_.max_rate) : estimate;
    if (rate == rate_) return;
    rate_ = rate;
    if (at_time_.IsFinite()) at_time_ = host_now;
  }
  // The constraints of the estimator, which are valid. Update() follows.
  void SetConstraints(const TargetRateConstraints& constraints) { constraints_ = constraints; }
  DataRate max_rate() const { return std::min(constraints_.max_rate, constraints_.max_media_rate); }

  // See SendSideEstimator. Allocates at the first call. Changes the rate only through later probes.
  std::optional<Error> SetDesiredRate(const DesiredRate& desired) {
    const auto is_rate = [](DataRate rate) { return rate.IsFinite() && rate >= DataRate::Zero(); };
    if (!is_rate(desired.total) || desired.total.IsZero() || !is_rate(desired.next))
      return Error{"the desired rates must be finite, that of all layers above 0"};
    if (!probes_) probes_ = std::make_unique<ProbeController>(rate_);
    probes_->SetDesiredRate(desired, rate_);
    return std::nullopt;
  }
  // Null without `probes_start` until there is a desired rate.
  ProbeController* probes() const { return probes_.get(); }
  const ProbeCounters& probe_counters() const {
    static constexpr ProbeCounters kNone;
    return probes_ ? probes_->counters() : kNone;
  }

 private:
  DataRate rate_;
  Timestamp at_time_ = Timestamp::MinusInfinity();
  TargetRateConstraints constraints_;
  std::unique_ptr<ProbeController> probes_;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_SENDER_SENDER_TARGET_H_
