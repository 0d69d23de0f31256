// Statistics of the arrivals in one decision interval: the features available to a policy.
#ifndef WEIR_INTERVAL_STATISTICS_H_
#define WEIR_INTERVAL_STATISTICS_H_

#include <cstdint>

#include "weir/network_types.h"

namespace weir {

// All values are finite. The suffix of a name is its unit: seconds or bits per second; others are counts or ratios.
// Counts and rates are at least 0 and include headers, payload and padding. Queueing delays are one-way, at least 0,
// and relative to the windowed base delay. In an interval without packets, rates and counts are 0, and delays are those
// of the last packet. Fields with "10s" and the delay noise describe the path and cover more than the interval.
struct IntervalStatistics {
  double interval_s = 0;             // length of the interval, 0.01 to 10
  double receive_rate_bps = 0;       // RTP bytes received over the interval
  double packets_received = 0;       // without duplicates
  double bytes_received = 0;         // of these packets
  double packets_lost = 0;           // at least 0: an excess of late arrivals is carried into the next interval
  double loss_ratio = 0;             // lost / (lost + received), 0 to 1; 0 where no packet was expected
  double queueing_delay_mean_s = 0;  // over the packets
  double queueing_delay_min_s = 0;   // the smallest
  double queueing_delay_max_s = 0;   // the largest
  double queueing_delay_p95_s = 0;   // 95th percentile, from a histogram, within 10 %
  double delay_gradient = 0;         // slope of one-way delay over arrival time, s/s, least squares; any sign
  double base_round_trip_time_s = kAssumedRoundTripTime.seconds();  // smallest of the last ten reports, 0 to 60
  double delay_ratio = 1;               // (base + mean queueing delay) / base, base: half the base round-trip time
  double interarrival_time_mean_s = 0;  // between two arrivals, at least 0
  double jitter_s = 0;                  // RFC 3550, section 6.4.1, at the end of the interval
  double time_since_last_packet_s = 0;  // at the end of the interval, at least 0
  double sending_ratio = 1;             // expected / received packets, 0 to 100
  double video_share = 0;               // video packets of those received, 0 to 1
  double audio_share = 0;               // audio packets, 0 to 1
  double probe_share = 0;               // packets of probe clusters, 0 to 1
  double retransmission_share = 0;      // retransmitted packets, 0 to 1
  double application_limited = 0;       // 1 while the sender sends well below the target on an idle path, else 0
  double last_estimate_bps = 0;         // the target in force during the interval
  double delay_noise_s = 0;             // median second difference of the smallest delays of the last 32 intervals
  double loss_at_short_queue_10s = 0;   // loss ratio of the intervals with a queue below 15 ms, 0 to 1
  double loss_ratio_slow_10s = 0;       // loss ratio of the half of the time in which least was sent, 0 to 1
  double loss_ratio_fast_10s = 0;       // loss ratio of the other half; random loss is the same in both
  double receive_rate_max_10s_bps = 0;  // highest receive rate over a second
  double receive_rate_min_10s_bps = 0;  // the lowest
  double queueing_delay_min_10s_s = 0;  // the smallest
  double queueing_delay_max_10s_s = 0;  // the largest
};

// True for a sender that sends well below the target on an idle path: packets arrived and none was lost, at less than
// 0.8 of the target, and their mean queueing delay is below 15 ms.
constexpr bool IsApplicationLimited(int64_t packets, int64_t lost, double receive_rate_bps, double target_rate_bps,
                                    double mean_queueing_delay_s) {
  return packets > 0 && lost == 0 && receive_rate_bps < 0.8 * target_rate_bps && mean_queueing_delay_s < 0.015;
}

}  // namespace weir

#endif  // WEIR_INTERVAL_STATISTICS_H_
