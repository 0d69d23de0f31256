#include "arrival/derived_statistics.h"

#include <algorithm>

#include "weir/interval_statistics_fields.h"

namespace weir {
namespace {

// Prevents division by zero on a path within one host.
constexpr double kMinBaseDelayS = 1e-3;

}  // namespace

void DerivedStatistics::OnRoundTripTime(TimeDelta round_trip_time) {
  if (!IsRoundTripTime(round_trip_time)) return;
  round_trip_times_us_[round_trip_times_++ % round_trip_times_us_.size()] = round_trip_time.us();
  const auto known = std::min(round_trip_times_, round_trip_times_us_.size());
  base_round_trip_time_ =
      TimeDelta::Micros(*std::min_element(round_trip_times_us_.begin(), round_trip_times_us_.begin() + known));
}

void DerivedStatistics::Complete(IntervalStatistics& statistics, DataRate last_estimate) {
  const double packets = statistics.packets_received;
  const double expected = packets + statistics.packets_lost;
  if (statistics.interval_s > 0) {
    statistics.receive_rate_bps = statistics.bytes_received * 8 / statistics.interval_s;
  }
  if (expected > 0) {
    statistics.loss_ratio = statistics.packets_lost / expected;
    statistics.sending_ratio = std::min(expected / std::max(packets, expected / kMaxSendingRatio), kMaxSendingRatio);
  }
  statistics.base_round_trip_time_s = base_round_trip_time_.seconds();
  const double base_s = std::max(base_round_trip_time_.seconds() / 2, kMinBaseDelayS);
  statistics.delay_ratio = (base_s + statistics.queueing_delay_mean_s) / base_s;
  time_since_last_packet_s_ =
      packets > 0 ? statistics.time_since_last_packet_s : time_since_last_packet_s_ + statistics.interval_s;
  statistics.time_since_last_packet_s = time_since_last_packet_s_;
  statistics.last_estimate_bps = static_cast<double>(last_estimate.bps());
  const bool is_limited =
      IsApplicationLimited(static_cast<int64_t>(packets), static_cast<int64_t>(statistics.packets_lost),
                           statistics.receive_rate_bps, statistics.last_estimate_bps, statistics.queueing_delay_mean_s);
  statistics.application_limited = is_limited ? 1 : 0;
  memory_.Add(statistics);
}

}  // namespace weir
