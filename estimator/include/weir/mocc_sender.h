// MOCC's library interface (EuroSys 2022, section 5: Register, ReportStatus, GetSendingRate), for senders that have
// statistics instead of packets: QUIC, UDT, CCP. Policy, features, action mapping and guard are those of all hosts.
// weir_mocc.h is the same in C.
#ifndef WEIR_MOCC_SENDER_H_
#define WEIR_MOCC_SENDER_H_

#include <memory>
#include <string>

#include "weir/controllers.h"
#include "weir/feature_set.h"
#include "weir/guard.h"
#include "weir/network_types.h"
#include "weir/objective.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// Observations of a sender during one interval. The first three are the paper's (section 4.1). "Acknowledged" are
// packets whose arrival the sender learned during the interval. Without any, the latencies are ignored.
//
// Latencies are one way, from departure to arrival. A sender that measures round-trip times counts the queue as one on
// the forward path: with the smallest round-trip time R so far, the latency of a round-trip time r is r - R / 2, and
// the base latency R / 2.
struct MoccStatus {
  static constexpr TimeDelta kMaxInterval = TimeDelta::Seconds(60);

  TimeDelta interval = TimeDelta::Zero();  // above 0, at most kMaxInterval
  double sending_ratio = 1;     // packets sent over packets acknowledged, at least 0; 100 when none was acknowledged
  double latency_ratio = 1;     // mean latency over the base latency, at least 1
  double latency_gradient = 0;  // change of latency over time, s/s
  DataRate throughput = DataRate::Zero();  // acknowledged bytes over the interval
  double packets_acknowledged = 0;         // 0 exactly where the throughput is 0
  double packets_lost = 0;
  // The smallest mean latency of an interval so far, at most 30 s. 0: unknown, which an interval with acknowledged
  // packets may be only with a model without delays in seconds (MoccSender::WithoutBaseLatency()).
  TimeDelta base_latency = TimeDelta::Zero();
  // The smallest and the largest latency of a packet. 0: unknown; the mean latency stands for both.
  TimeDelta min_latency = TimeDelta::Zero();
  TimeDelta max_latency = TimeDelta::Zero();
};

// Makes one decision for each status. It derives all features that follow from the statuses so far by the code that
// derives them from packets (DerivedStatistics). Runs on the caller's thread, and reads no clock: time is the sum of
// the reported intervals.
class MoccSender {
 public:
  // The features that statuses give. The others need packets.
  static constexpr FeatureSet Features() {
    return FeatureSet().Without(
        {"queueing_delay_p95_s", "jitter_s", "video_share", "audio_share", "probe_share", "retransmission_share"});
  }
  // The features that statuses without a base latency give.
  static constexpr FeatureSet WithoutBaseLatency() {
    return Features().Without({"queueing_delay_mean_s", "queueing_delay_min_s", "queueing_delay_max_s",
                               "base_round_trip_time_s", "application_limited", "delay_noise_s",
                               "loss_at_short_queue_10s", "queueing_delay_min_10s_s", "queueing_delay_max_10s_s"});
  }

  // The error names the invalid part of `constraints`, or the features of the model that are not in Features().
  static Result<MoccSender> Create(std::shared_ptr<const PolicyModel> model, const Objective& objective,
                                   const TargetRateConstraints& constraints, const GuardOptions& guard_rules = {});
  MoccSender(MoccSender&&) noexcept;
  MoccSender& operator=(MoccSender&&) noexcept;
  ~MoccSender();

  // Register(w). `objective` is normalized.
  void Register(const Objective& objective);

  enum class Outcome { kDecided, kInvalidStatus, kPolicyFault };
  struct Report {
    Outcome outcome = Outcome::kDecided;
    // Names the invalid value of the status; else empty.
    std::string error;
  };
  // ReportStatus(s), called once per interval(). An invalid status changes nothing. If the policy fails, the rate falls
  // to the acknowledged throughput.
  [[nodiscard]] Report ReportStatus(const MoccStatus& status);
  // GetSendingRate().
  DataRate sending_rate() const;

  // The model's interval between two decisions.
  TimeDelta interval() const;

 private:
  struct State;
  explicit MoccSender(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_MOCC_SENDER_H_
