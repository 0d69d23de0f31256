// The 150 features of the ACM MMSys 2024 bandwidth-estimation challenge, so that its models run unchanged.
//
// Observation index 10 f + k: feature f over the k-th newest short interval of 60 ms (k = 0..4) or over the (k-5)-th
// newest long interval of 600 ms (k = 5..9), the newest of both ending now. kMmsysFeatures lists them in order.
//
// The challenge measured one-way delays with synchronized clocks. Here the delay is the base delay, half the round-trip
// time (50 ms while it is unknown), plus the queueing delay. An interval without packets is all zeros except for the
// smallest delay seen.
#ifndef WEIR_ESTIMATOR_SRC_POLICY_MMSYS_FEATURES_H_
#define WEIR_ESTIMATOR_SRC_POLICY_MMSYS_FEATURES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "weir/arrival.h"
#include "weir/interval_statistics_fields.h"
#include "weir/units.h"

namespace weir {

struct MmsysFeature {
  std::string_view description;
  // See FeatureQuantity.
  FeatureRange load_check;
};

inline constexpr auto kMmsysFeatures = std::to_array<MmsysFeature>({
    {"receive rate, bps", {0, kMaxPolicyRateBps}},
    {"packets", {0, 1e6}},
    {"bytes", {0, 1e9}},
    {"queueing delay, ms", {0, 60e3}},
    {"delay minus 200 ms, ms", {-200, 60e3}},
    {"smallest delay seen, ms", {0, 60e3}},
    {"mean over smallest delay", {0, 1e4}},
    {"mean minus smallest delay, ms", {0, 60e3}},
    {"mean inter-arrival time, ms", {0, 10'800e3}},
    {"standard deviation of inter-arrival time, ms", {0, 10'800e3}},
    {"loss ratio", {0, 1}},
    {"packets lost per loss", {0, 1e6}},
    {"share of video packets", {0, 1}},
    {"share of audio packets", {0, 1}},
    {"share of probe packets", {0, 1}},
});

class MmsysFeatures {
 public:
  static constexpr size_t kFeatures = kMmsysFeatures.size();
  static constexpr size_t kObservationSize = 10 * kFeatures;
  static constexpr TimeDelta kShortInterval = TimeDelta::Millis(60);

  void OnArrival(const Arrival& arrival);
  // Ignored unless positive and finite.
  void OnRoundTripTime(TimeDelta round_trip_time);

  // Ends the current short interval, which began at the previous call.
  void EndInterval(Timestamp now);
  // Sets all kObservationSize elements of `observation` to finite values.
  void Write(std::span<float> observation) const;
  // Clears all intervals, for example after a long gap.
  void Clear();

 private:
  // Sums over the packets of an interval. Ten short intervals add up to a long one.
  struct Sums {
    double duration_s = 0;
    double packets = 0;
    double bytes = 0;
    double delay_packets = 0;  // number of packets with a send time
    double queueing_delay_ms = 0;
    double min_queueing_delay_ms = 0;
    double gaps = 0;
    double gap_ms = 0;
    double gap_squared_ms2 = 0;
    double lost = 0;
    double losses = 0;
    double video = 0;
    double audio = 0;
    double probe = 0;

    void Add(const Sums& other);
  };

  static constexpr size_t kIntervals = 5;
  static constexpr size_t kShortPerLong = 10;
  static constexpr size_t kRing = kIntervals * kShortPerLong;

  const Sums& Newest(size_t age) const { return ring_[(next_ + kRing - 1 - age) % kRing]; }
  std::array<double, kFeatures> Features(const Sums& sums) const;

  Sums current_;
  std::array<Sums, kRing> ring_{};
  size_t next_ = 0;
  Timestamp interval_start_ = Timestamp::MinusInfinity();
  Timestamp last_arrival_ = Timestamp::MinusInfinity();
  double base_delay_ms_ = static_cast<double>(kAssumedRoundTripTime.ms()) / 2;
};

}  // namespace weir

#endif  // WEIR_ESTIMATOR_SRC_POLICY_MMSYS_FEATURES_H_
