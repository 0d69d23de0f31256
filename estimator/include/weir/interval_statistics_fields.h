// The registry of the fields of IntervalStatistics as features of policies; weir/interval_statistics.h has their
// meanings. The names are the same in C++, Python, JSON and reports.
#ifndef WEIR_INTERVAL_STATISTICS_FIELDS_H_
#define WEIR_INTERVAL_STATISTICS_FIELDS_H_

#include <array>
#include <string>
#include <string_view>

#include "weir/interval_statistics.h"
#include "weir/names.h"
#include "weir/units.h"

namespace weir {

// Bounds of a policy: the decision interval, the number of intervals in an observation, and the rate.
inline constexpr TimeDelta kMinDecisionInterval = TimeDelta::Millis(10);
inline constexpr TimeDelta kMaxDecisionInterval = TimeDelta::Seconds(10);
inline constexpr int kMaxHistory = 64;
inline constexpr double kMaxPolicyRateBps = 1e10;
inline constexpr double kMaxSendingRatio = 100;
inline constexpr double kMaxDelayGradient = 1e5;

// Scaling of a feature in trained networks. trainer/weir_train/gym/scaling.py has the formulas. kRateOverRule is
// relative to the rate of the ten-line rule.
enum class InputScale { kUnscaled, kRateOverRule, kDelay, kCount, kTime, kSquareRoot, kGradient, kLogRatio };
inline constexpr std::array<std::string_view, 8> kInputScaleNames{
    "unscaled", "rate_over_rule", "delay", "count", "time", "square_root", "gradient", "log_ratio"};
constexpr std::string_view ToString(InputScale scale) { return kInputScaleNames[static_cast<size_t>(scale)]; }

struct FeatureRange {
  // Both inclusive, low < high.
  double low = 0;
  double high = 0;
};

// Unit and ranges of a feature.
struct FeatureQuantity {
  std::string_view unit;  // empty for ratios and shares
  // Range of the inputs with which a model is checked when it is loaded.
  FeatureRange load_check;
  // Range to which an environment clips its observations; no observation should need it.
  FeatureRange observation_space;
};

struct IntervalStatisticsField {
  // Name of the member of IntervalStatistics.
  std::string_view name;
  double IntervalStatistics::* member;
  FeatureQuantity quantity;
  // Scaling in trained networks.
  InputScale scale;
  // True if the feature covers more than the interval. An observation then contains only its newest value.
  bool of_path = false;
};

// Every field once, in the order of IntervalStatistics.
inline constexpr auto kIntervalStatisticsFields = [] {
  using enum InputScale;
  constexpr FeatureQuantity kShare{"", {0, 1}, {0, 1}};
  constexpr FeatureQuantity kRate{"bit/s", {0, kMaxPolicyRateBps}, {0, 1e11}};
  constexpr FeatureQuantity kPackets{"packets", {0, 1e6}, {0, 1e9}};
  constexpr FeatureQuantity kBytes{"bytes", {0, 1e9}, {0, 1e12}};
  constexpr FeatureQuantity kQueue{"s", {0, 60}, {0, 1e5}};
  constexpr FeatureQuantity kSilence{"s", {0, 10'800}, {0, 1e5}};  // three hours
  constexpr FeatureQuantity kInterval{"s", {kMinDecisionInterval.seconds(), kMaxDecisionInterval.seconds()}, {0, 60}};
  constexpr FeatureQuantity kSlope{"s/s", {-100, 100}, {-kMaxDelayGradient, kMaxDelayGradient}};
  constexpr FeatureQuantity kRoundTripTime{"s", {0, kMaxRoundTripTime.seconds()}, {0, kMaxRoundTripTime.seconds()}};
  constexpr FeatureQuantity kDelayRatio{"", {1, 1e4}, {0, 1e7}};
  constexpr FeatureQuantity kSendingRatio{"", {0, kMaxSendingRatio}, {0, kMaxSendingRatio}};
  using S = IntervalStatistics;
  return std::to_array<IntervalStatisticsField>({
      {"interval_s", &S::interval_s, kInterval, kTime},
      {"receive_rate_bps", &S::receive_rate_bps, kRate, kRateOverRule},
      {"packets_received", &S::packets_received, kPackets, kCount},
      {"bytes_received", &S::bytes_received, kBytes, kCount},
      {"packets_lost", &S::packets_lost, kPackets, kCount},
      {"loss_ratio", &S::loss_ratio, kShare, kSquareRoot},
      {"queueing_delay_mean_s", &S::queueing_delay_mean_s, kQueue, kDelay},
      {"queueing_delay_min_s", &S::queueing_delay_min_s, kQueue, kDelay},
      {"queueing_delay_max_s", &S::queueing_delay_max_s, kQueue, kDelay},
      {"queueing_delay_p95_s", &S::queueing_delay_p95_s, kQueue, kDelay},
      {"delay_gradient", &S::delay_gradient, kSlope, kGradient},
      {"base_round_trip_time_s", &S::base_round_trip_time_s, kRoundTripTime, kDelay},
      {"delay_ratio", &S::delay_ratio, kDelayRatio, kLogRatio},
      {"interarrival_time_mean_s", &S::interarrival_time_mean_s, kSilence, kTime},
      {"jitter_s", &S::jitter_s, kQueue, kTime},
      {"time_since_last_packet_s", &S::time_since_last_packet_s, kSilence, kTime},
      {"sending_ratio", &S::sending_ratio, kSendingRatio, kLogRatio},
      {"video_share", &S::video_share, kShare, kUnscaled},
      {"audio_share", &S::audio_share, kShare, kUnscaled},
      {"probe_share", &S::probe_share, kShare, kUnscaled},
      {"retransmission_share", &S::retransmission_share, kShare, kUnscaled},
      {"application_limited", &S::application_limited, kShare, kUnscaled},
      {"last_estimate_bps", &S::last_estimate_bps, kRate, kRateOverRule},
      {"delay_noise_s", &S::delay_noise_s, kQueue, kDelay, /*of_path=*/true},
      {"loss_at_short_queue_10s", &S::loss_at_short_queue_10s, kShare, kSquareRoot, /*of_path=*/true},
      {"loss_ratio_slow_10s", &S::loss_ratio_slow_10s, kShare, kSquareRoot, /*of_path=*/true},
      {"loss_ratio_fast_10s", &S::loss_ratio_fast_10s, kShare, kSquareRoot, /*of_path=*/true},
      {"receive_rate_max_10s_bps", &S::receive_rate_max_10s_bps, kRate, kRateOverRule, /*of_path=*/true},
      {"receive_rate_min_10s_bps", &S::receive_rate_min_10s_bps, kRate, kRateOverRule, /*of_path=*/true},
      {"queueing_delay_min_10s_s", &S::queueing_delay_min_10s_s, kQueue, kDelay, /*of_path=*/true},
      {"queueing_delay_max_10s_s", &S::queueing_delay_max_10s_s, kQueue, kDelay, /*of_path=*/true},
  });
}();
static_assert(sizeof(IntervalStatistics) == kIntervalStatisticsFields.size() * sizeof(double),
              "every field of IntervalStatistics needs its line in kIntervalStatisticsFields");

// Returns null if there is no field of that name.
inline const IntervalStatisticsField* FindIntervalStatisticsField(std::string_view name) {
  return FindRow(kIntervalStatisticsFields, name);
}

// All names, for messages about an unknown one.
inline std::string IntervalStatisticsFieldNames() { return ListNames(kIntervalStatisticsFields); }

}  // namespace weir

#endif  // WEIR_INTERVAL_STATISTICS_FIELDS_H_
