// Statistics of the arrivals of one decision interval: the features that a policy can see.
#ifndef WEIR_INTERVAL_STATISTICS_H_
#define WEIR_INTERVAL_STATISTICS_H_

#include "weir/network_types.h"

namespace weir {

// All values are finite and in SI units (seconds, bits per second, bytes); src/interval_statistics_fields.h describes
// each. In an interval without packets, rates and counts are 0, and delays are those of the last packet.
struct IntervalStatistics {
  double interval_s = 0;
  double receive_rate_bps = 0;
  double packets_received = 0;
  double bytes_received = 0;
  double packets_lost = 0;
  double loss_ratio = 0;
  double queueing_delay_mean_s = 0;
  double queueing_delay_min_s = 0;
  double queueing_delay_max_s = 0;
  double queueing_delay_p95_s = 0;
  double delay_gradient = 0;
  double base_round_trip_time_s = kAssumedRoundTripTime.seconds();
  double delay_ratio = 1;
  double interarrival_time_mean_s = 0;
  double jitter_s = 0;
  double time_since_last_packet_s = 0;
  double sending_ratio = 1;
  double video_share = 0;
  double audio_share = 0;
  double probe_share = 0;
  double retransmission_share = 0;
  double application_limited = 0;
  double last_estimate_bps = 0;
  double delay_noise_s = 0;
  double loss_at_short_queue_10s = 0;
  double loss_ratio_slow_10s = 0;
  double loss_ratio_fast_10s = 0;
  double receive_rate_max_10s_bps = 0;
  double receive_rate_min_10s_bps = 0;
  double queueing_delay_min_10s_s = 0;
  double queueing_delay_max_10s_s = 0;
};

}  // namespace weir

#endif  // WEIR_INTERVAL_STATISTICS_H_
