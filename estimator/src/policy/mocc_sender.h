// MOCC's library interface (EuroSys 2022, section 5: Register, ReportStatus, GetSendingRate), for senders that have
// their own statistics instead of RTP arrivals: QUIC, UDT, CCP. Uses the same policy, action mapping and guard as the
// receiver.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MOCC_SENDER_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MOCC_SENDER_H_

#include <memory>
#include <optional>
#include <vector>

#include "policy/feature_history.h"
#include "policy/policy.h"
#include "weir/interval_statistics.h"
#include "weir/network_types.h"
#include "weir/objective.h"

namespace weir {

// Observations of a sender during one interval: those of MOCC (section 4.1) and a few more.
struct MoccStatus {
  TimeDelta interval = TimeDelta::Zero();  // above 0, at most a minute
  double sending_ratio = 1;     // packets sent over packets acknowledged, at least 0; 100 when none was acknowledged
  double latency_ratio = 1;     // mean latency over the smallest mean latency so far, at least 1
  double latency_gradient = 0;  // change of latency over time, s/s
  DataRate throughput = DataRate::Zero();  // acknowledged
  double packets_acknowledged = 0;
  double packets_lost = 0;
  TimeDelta base_latency =
      TimeDelta::Zero();  // the smallest mean latency so far, one way; if unknown, 0, and 50 ms is assumed
};

// Returns nothing if a value is not finite or out of its range.
std::optional<IntervalStatistics> ToIntervalStatistics(const MoccStatus& status, DataRate last_rate, TimeDelta silence);

class MoccSender {
 public:
  // `constraints` must be valid, and the model of the format kWeir1.
  MoccSender(std::unique_ptr<Policy> policy, const Objective& objective, const TargetRateConstraints& constraints);

  void Register(const Objective& objective) { objective_ = objective; }

  ~MoccSender();

  enum class Outcome { kDecided, kInvalidStatus, kPolicyFault };
  // Called once per interval of the model. A status out of range changes nothing. If the policy fails, the rate falls
  // to the acknowledged throughput.
  Outcome ReportStatus(const MoccStatus& status);
  DataRate sending_rate() const { return rate_; }

  const ModelDescription& description() const { return policy_->description(); }

 private:
  std::unique_ptr<Policy> policy_;
  FeatureHistory history_;
  std::vector<float> action_;
  Objective objective_;
  // ArrivalHistory and Guard.
  struct Path;
  std::unique_ptr<Path> path_;
  DataRate rate_;
  // The sum of the reported intervals.
  Timestamp now_ = Timestamp::Micros(0);
  TimeDelta silence_ = TimeDelta::Zero();
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MOCC_SENDER_H_
