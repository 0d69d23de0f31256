// One record of what arrived during one decision interval. The field names are the same in C++, Python, JSON and
// reports.
#ifndef WEIR_ARRIVAL_INTERVAL_STATISTICS_H_
#define WEIR_ARRIVAL_INTERVAL_STATISTICS_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace weir {

// All values are finite and in SI units (seconds, bits per second, bytes). An interval in which nothing arrived is a
// record like any other: rates and counts are 0, delays are those of the last packet, and time_since_last_packet_s
// tells the silence.
struct IntervalStatistics {
  double interval_s = 0;             // length of the interval
  double receive_rate_bps = 0;       // RTP bytes received over the interval
  double packets_received = 0;       // duplicates not counted
  double bytes_received = 0;         // header, payload and padding
  double packets_lost = 0;           // never negative: late arrivals are carried into the next interval
  double loss_ratio = 0;             // lost / (lost + received); 0 when nothing was expected
  double queueing_delay_mean_s = 0;  // above the windowed base delay
  double queueing_delay_min_s = 0;
  double queueing_delay_max_s = 0;
  double queueing_delay_p95_s = 0;      // from a histogram, within 10 % of the exact value
  double delay_gradient = 0;            // slope of one-way delay over arrival time, least squares, s/s
  double base_round_trip_time_s = 0.1;  // the smallest of the last ten reports; 100 ms when unknown
  double delay_ratio = 1;  // (base + mean queueing delay) / base, after MOCC; base: half the base round-trip time
  double interarrival_time_mean_s = 0;
  double jitter_s = 0;                  // RFC 3550 section 6.4.1, at the end of the interval
  double time_since_last_packet_s = 0;  // at the end of the interval
  double sending_ratio = 1;             // expected / received packets, after MOCC; at most 100
  double video_share = 0;               // of the packets received
  double audio_share = 0;
  double probe_share = 0;
  double retransmission_share = 0;
  double application_limited = 0;  // 1 when the sender sends well below the estimate although the path is idle
  double last_estimate_bps = 0;    // the target that was in force during the interval
};

struct IntervalStatisticsField {
  std::string_view name;
  double IntervalStatistics::* member;
};

inline constexpr std::array<IntervalStatisticsField, 23> kIntervalStatisticsFields{{
    {"interval_s", &IntervalStatistics::interval_s},
    {"receive_rate_bps", &IntervalStatistics::receive_rate_bps},
    {"packets_received", &IntervalStatistics::packets_received},
    {"bytes_received", &IntervalStatistics::bytes_received},
    {"packets_lost", &IntervalStatistics::packets_lost},
    {"loss_ratio", &IntervalStatistics::loss_ratio},
    {"queueing_delay_mean_s", &IntervalStatistics::queueing_delay_mean_s},
    {"queueing_delay_min_s", &IntervalStatistics::queueing_delay_min_s},
    {"queueing_delay_max_s", &IntervalStatistics::queueing_delay_max_s},
    {"queueing_delay_p95_s", &IntervalStatistics::queueing_delay_p95_s},
    {"delay_gradient", &IntervalStatistics::delay_gradient},
    {"base_round_trip_time_s", &IntervalStatistics::base_round_trip_time_s},
    {"delay_ratio", &IntervalStatistics::delay_ratio},
    {"interarrival_time_mean_s", &IntervalStatistics::interarrival_time_mean_s},
    {"jitter_s", &IntervalStatistics::jitter_s},
    {"time_since_last_packet_s", &IntervalStatistics::time_since_last_packet_s},
    {"sending_ratio", &IntervalStatistics::sending_ratio},
    {"video_share", &IntervalStatistics::video_share},
    {"audio_share", &IntervalStatistics::audio_share},
    {"probe_share", &IntervalStatistics::probe_share},
    {"retransmission_share", &IntervalStatistics::retransmission_share},
    {"application_limited", &IntervalStatistics::application_limited},
    {"last_estimate_bps", &IntervalStatistics::last_estimate_bps},
}};

// The field of that name; nothing when there is none.
std::optional<IntervalStatisticsField> FindIntervalStatisticsField(std::string_view name);

}  // namespace weir

#endif  // WEIR_ARRIVAL_INTERVAL_STATISTICS_H_
