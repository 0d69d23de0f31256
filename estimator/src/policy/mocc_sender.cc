#include "policy/mocc_sender.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "arrival/arrival_history.h"
#include "guard/guard.h"
#include "weir/interval_statistics_fields.h"

namespace weir {
namespace {

constexpr TimeDelta kMaxInterval = TimeDelta::Seconds(60);
constexpr TimeDelta kMaxBaseLatency = TimeDelta::Seconds(60);
constexpr TimeDelta kAssumedBaseLatency = kAssumedRoundTripTime * 0.5;
constexpr DataRate kMaxThroughput = DataRate::KilobitsPerSecond(1'000'000'000);
constexpr double kMaxLatencyRatio = 1e6;
constexpr double kMaxPackets = 1e12;

bool Within(double value, double min, double max) { return value >= min && value <= max; }  // false for NaN

bool IsUsable(const MoccStatus& status) {
  return status.interval > TimeDelta::Zero() && status.interval <= kMaxInterval &&
         Within(status.sending_ratio, 0, HUGE_VAL) && Within(status.latency_ratio, 1, kMaxLatencyRatio) &&
         Within(status.latency_gradient, -1e6, 1e6) && status.throughput >= DataRate::Zero() &&
         status.throughput <= kMaxThroughput && Within(status.packets_acknowledged, 0, kMaxPackets) &&
         Within(status.packets_lost, 0, kMaxPackets) && status.base_latency >= TimeDelta::Zero() &&
         status.base_latency <= kMaxBaseLatency;
}

}  // namespace

std::optional<IntervalStatistics> ToIntervalStatistics(const MoccStatus& status, DataRate last_rate,
                                                       TimeDelta silence) {
  if (!IsUsable(status)) return std::nullopt;
  const TimeDelta base = status.base_latency.IsZero() ? kAssumedBaseLatency : status.base_latency;
  const double packets = status.packets_acknowledged + status.packets_lost;
  IntervalStatistics statistics;
  statistics.interval_s = status.interval.seconds();
  statistics.receive_rate_bps = static_cast<double>(status.throughput.bps());
  statistics.packets_received = status.packets_acknowledged;
  statistics.bytes_received = static_cast<double>((status.throughput * status.interval).bytes());
  statistics.packets_lost = status.packets_lost;
  statistics.loss_ratio = packets > 0 ? status.packets_lost / packets : 0;
  // The report contains only the mean.
  statistics.queueing_delay_mean_s = (status.latency_ratio - 1) * base.seconds();
  statistics.queueing_delay_min_s = statistics.queueing_delay_mean_s;
  statistics.queueing_delay_max_s = statistics.queueing_delay_mean_s;
  statistics.queueing_delay_p95_s = statistics.queueing_delay_mean_s;
  statistics.delay_gradient = status.latency_gradient;
  statistics.delay_ratio = status.latency_ratio;
  if (status.packets_acknowledged > 0) {
    statistics.interarrival_time_mean_s = statistics.interval_s / status.packets_acknowledged;
  }
  statistics.time_since_last_packet_s = silence.seconds();
  statistics.sending_ratio = std::min(status.sending_ratio, kMaxSendingRatio);
  statistics.video_share = status.throughput.IsZero() ? 0 : 1;
  statistics.last_estimate_bps = static_cast<double>(last_rate.bps());
  return statistics;
}

struct MoccSender::Path {
  ArrivalHistory arrivals;
  Guard guard{arrivals, GuardOptions::ForSourcesWithoutDelays()};
};

MoccSender::MoccSender(std::unique_ptr<Policy> policy, const Objective& objective,
                       const TargetRateConstraints& constraints)
    : policy_(std::move(policy)),
      history_(description().features),
      action_(description().action_size),
      objective_(objective),
      path_(std::make_unique<Path>()),
      rate_(constraints.start_rate) {
  path_->arrivals.Start(now_);
  path_->guard.SetConstraints(constraints, now_);
}

MoccSender::~MoccSender() = default;

MoccSender::Outcome MoccSender::ReportStatus(const MoccStatus& status) {
  const TimeDelta silence = status.throughput.IsZero() ? silence_ + status.interval : TimeDelta::Zero();
  const std::optional<IntervalStatistics> statistics = ToIntervalStatistics(status, rate_, silence);
  if (!statistics) return Outcome::kInvalidStatus;
  silence_ = silence;
  now_ += status.interval;
  if (!status.throughput.IsZero()) path_->arrivals.OnData(now_, status.throughput * status.interval);
  history_.Add(*statistics);
  const bool failed = policy_->Run(history_.observation(), objective_, action_) != PolicyFault::kNone;
  const std::optional<DataRate> decided = failed ? std::nullopt : description().action.Apply(action_, rate_);
  path_->arrivals.OnDecision(now_);
  rate_ = path_->guard.Apply(decided.value_or(std::min(rate_, status.throughput)), now_).rate;
  return decided ? Outcome::kDecided : Outcome::kPolicyFault;
}

}  // namespace weir
