// Interval statistics from the statuses of a sender.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MOCC_STATISTICS_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MOCC_STATISTICS_H_

#include <optional>

#include "arrival/derived_statistics.h"
#include "weir/interval_statistics.h"
#include "weir/mocc_sender.h"
#include "weir/model_description.h"
#include "weir/result.h"

namespace weir {

class MoccStatistics {
 public:
  // `features` are those of the policy.
  explicit MoccStatistics(const FeatureSpecification& features);

  // The statistics of the interval of `status`, during which `last_rate` was in force. An invalid status changes
  // nothing; the error names its value, and the features that lack a base latency.
  Result<IntervalStatistics> Take(const MoccStatus& status, DataRate last_rate);

 private:
  // The error of a status without a base latency, if the policy needs one.
  const std::optional<Error> lacks_base_latency_;
  DerivedStatistics derived_;
  // The latest base latency that was reported; zero before the first.
  TimeDelta base_latency_ = TimeDelta::Zero();
  double last_queueing_delay_s_ = 0;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MOCC_STATISTICS_H_
