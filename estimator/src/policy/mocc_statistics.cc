#include "policy/mocc_statistics.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "weir/interval_statistics_fields.h"

namespace weir {
namespace {

constexpr TimeDelta kMaxLatency = TimeDelta::Seconds(3600);
constexpr TimeDelta kMaxBaseLatency = kMaxRoundTripTime * 0.5;
constexpr DataRate kMaxThroughput = DataRate::KilobitsPerSecond(1'000'000'000);
// Stands for an unknown base latency with a policy that needs only the latency ratio.
constexpr TimeDelta kAssumedBaseLatency = kAssumedRoundTripTime * 0.5;

std::optional<Error> CheckStatus(const MoccStatus& status) {
  const bool has_packets = status.packets_acknowledged > 0;
  struct Value {
    const char* name = nullptr;
    double value = 0;
    FeatureRange range;
  };
  const Value values[] = {
      {"interval", status.interval.seconds(), {1e-6, MoccStatus::kMaxInterval.seconds()}},
      {"sending_ratio", status.sending_ratio, {0, HUGE_VAL}},
      {"latency_ratio", status.latency_ratio, {has_packets ? 1.0 : 0.0, 1e6}},
      {"latency_gradient", status.latency_gradient, {-1e6, 1e6}},
      {"throughput", static_cast<double>(status.throughput.bps()), {0, static_cast<double>(kMaxThroughput.bps())}},
      {"packets_acknowledged", status.packets_acknowledged, {0, 1e12}},
      {"packets_lost", status.packets_lost, {0, 1e12}},
      {"base_latency", status.base_latency.seconds(), {0, kMaxBaseLatency.seconds()}},
      {"min_latency", status.min_latency.seconds(), {0, kMaxLatency.seconds()}},
      {"max_latency", status.max_latency.seconds(), {0, kMaxLatency.seconds()}},
  };
  for (const Value& value : values) {
    // False for NaN.
    if (value.value >= value.range.low && value.value <= value.range.high) continue;
    return Error{"the status's " + std::string(value.name) + " is not finite or out of its range"};
  }
  if (has_packets != (status.throughput > DataRate::Zero()))
    return Error{"of the status's packets_acknowledged and throughput, one is 0 and the other is not"};
  return std::nullopt;
}

}  // namespace

MoccStatistics::MoccStatistics(const FeatureSpecification& features)
    : lacks_base_latency_(CheckFeatures(features, MoccSender::WithoutBaseLatency(),
                                        "with a status whose base_latency is 0 (unknown)")) {}

Result<IntervalStatistics> MoccStatistics::Take(const MoccStatus& status, DataRate last_rate) {
  if (auto error = CheckStatus(status)) return *error;
  const TimeDelta reported = status.base_latency.IsZero() ? base_latency_ : status.base_latency;
  const bool has_packets = status.packets_acknowledged > 0;
  if (has_packets && reported.IsZero() && lacks_base_latency_) return *lacks_base_latency_;
  if (!reported.IsZero()) derived_.OnRoundTripTime(reported * 2);
  base_latency_ = reported;

  IntervalStatistics statistics;
  statistics.interval_s = status.interval.seconds();
  statistics.packets_received = status.packets_acknowledged;
  statistics.bytes_received = static_cast<double>(status.throughput.bps()) * statistics.interval_s / 8;
  statistics.packets_lost = status.packets_lost;
  if (has_packets) {
    const double base_s = (reported.IsZero() ? kAssumedBaseLatency : reported).seconds();
    const double mean_s = (status.latency_ratio - 1) * base_s;
    statistics.queueing_delay_mean_s = statistics.queueing_delay_min_s = statistics.queueing_delay_max_s = mean_s;
    if (!status.min_latency.IsZero())
      statistics.queueing_delay_min_s = std::clamp(status.min_latency.seconds() - base_s, 0.0, mean_s);
    if (!status.max_latency.IsZero())
      statistics.queueing_delay_max_s = std::max(status.max_latency.seconds() - base_s, mean_s);
    statistics.delay_gradient = std::clamp(status.latency_gradient, -kMaxDelayGradient, kMaxDelayGradient);
    statistics.interarrival_time_mean_s = statistics.interval_s / status.packets_acknowledged;
    last_queueing_delay_s_ = mean_s;
  } else {
    statistics.queueing_delay_mean_s = last_queueing_delay_s_;
    statistics.queueing_delay_min_s = statistics.queueing_delay_max_s = last_queueing_delay_s_;
  }
  derived_.Complete(statistics, last_rate);
  // The sender's own values, which the paper's policies observe.
  statistics.sending_ratio = std::min(status.sending_ratio, kMaxSendingRatio);
  if (has_packets) statistics.delay_ratio = status.latency_ratio;
  return statistics;
}

}  // namespace weir
