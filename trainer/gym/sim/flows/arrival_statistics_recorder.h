// An estimator's arrival statistics of each interval, besides the simulator's true queue.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_ARRIVAL_STATISTICS_RECORDER_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_ARRIVAL_STATISTICS_RECORDER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "arrival/interval_accumulator.h"
#include "core/event.h"
#include "link/packet.h"
#include "scenario/scenario.h"
#include "weir/bandwidth_estimator.h"

namespace weir::sim {

// Both sides of a delay are over the same packets: those that arrived in the interval with a send time that the
// estimator used.
//
// A packet's true queueing delay is what it waited in the bottleneck's queue and for its own transmission, beyond what
// the flow's quickest transmission so far took: what stands above the delay of an empty path. Neither jitter nor the
// path's own delay nor the sender's clock is in it.
//
// A packet's true random loss is that by chance, of all that arrived or were dropped in about ten seconds.
class ArrivalStatisticsRecorder final : public EstimatorObserver {
 public:
  static constexpr int64_t kIntervalNs = 200'000'000;

  struct Interval {
    double queueing_delay_mean_ms = 0;
    double queueing_delay_min_ms = 0;
    double true_queueing_delay_mean_ms = 0;
    double true_queueing_delay_min_ms = 0;
    // The estimated delay of the empty path less the true one: above 0 the estimator overlooks that much of the queue.
    double base_delay_error_mean_ms = 0;
    // Ratios, 0 to 1.
    double loss_at_short_queue_10s = 0;
    double true_random_loss_10s = 0;
  };
  struct Column {
    std::string_view name;
    double Interval::* member;
  };
  static constexpr std::array<Column, 7> kColumns{{
      {"queueing_delay_mean_ms", &Interval::queueing_delay_mean_ms},
      {"queueing_delay_min_ms", &Interval::queueing_delay_min_ms},
      {"true_queueing_delay_mean_ms", &Interval::true_queueing_delay_mean_ms},
      {"true_queueing_delay_min_ms", &Interval::true_queueing_delay_min_ms},
      {"base_delay_error_mean_ms", &Interval::base_delay_error_mean_ms},
      {"loss_at_short_queue_10s", &Interval::loss_at_short_queue_10s},
      {"true_random_loss_10s", &Interval::true_random_loss_10s},
  }};

  // `link` carries the flow's media.
  ArrivalStatisticsRecorder(const LinkSpec& link, int64_t duration_ns);

  // To be called for each packet before the estimator has it.
  void OnReceived(const Packet& packet, int64_t arrival_time_ns);
  // Counts in the interval of the last arrival.
  void OnDropped(const Packet& packet);
  // Call once, after the last event.
  void Finish();

  // One for each step of kIntervalNs from time 0 on, the last one possibly shorter; nothing where no packet had a send
  // time.
  const std::vector<std::optional<Interval>>& intervals() const { return intervals_; }

 private:
  struct Fates {
    int64_t packets = 0;
    int64_t lost_by_chance = 0;
  };
  static constexpr size_t kFates = 50;

  void OnTarget(const TargetTransferRate&) override {}
  void OnArrival(const Arrival& arrival) override;
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}

  void FinishIntervalsBefore(int64_t time_ns);
  void FinishInterval();
  Fates& fates() { return fates_[intervals_.size() % kFates]; }
  double RandomLoss() const;

  const std::optional<CapacityTrace> capacity_;
  const int64_t duration_ns_;
  std::vector<std::optional<Interval>> intervals_;
  IntervalAccumulator accumulator_;
  // The flow's quickest so far.
  int64_t quickest_transmission_ns_ = kNeverNs;
  // The packet that the estimator has now: its true queueing delay, and that with jitter.
  int64_t queueing_delay_ns_ = 0;
  int64_t beyond_empty_path_ns_ = 0;
  // In the interval: packets with a send time, sums and minimum over them.
  int64_t packets_ = 0;
  double queueing_delay_sum_ns_ = 0;
  int64_t queueing_delay_min_ns_ = 0;
  double base_delay_error_sum_ns_ = 0;
  // The latest intervals; the oldest is overwritten.
  std::array<Fates, kFates> fates_{};
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_ARRIVAL_STATISTICS_RECORDER_H_
