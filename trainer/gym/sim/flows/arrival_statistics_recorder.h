// What an estimator's arrival statistics said of each interval, beside what the simulator knows: the true queue.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_ARRIVAL_STATISTICS_RECORDER_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_ARRIVAL_STATISTICS_RECORDER_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/sim_time.h"
#include "link/packet.h"
#include "scenario/scenario.h"
#include "weir/arrival/interval_accumulator.h"
#include "weir/estimator_observer.h"

namespace weir::sim {

// Both sides are over the same packets: those that arrived in the interval with a send time that the estimator used.
//
// A packet's true queueing delay is what it waited in the bottleneck's queue and for its own transmission, beyond what
// the flow's quickest transmission so far took: what stands above the delay of an empty path. Neither jitter nor the
// path's own delay nor the sender's clock is in it.
class ArrivalStatisticsRecorder final : public EstimatorObserver {
 public:
  static constexpr int64_t kIntervalNs = 200'000'000;

  struct Interval {
    double queueing_delay_mean_ms = 0;
    double queueing_delay_min_ms = 0;
    double true_queueing_delay_mean_ms = 0;
    double true_queueing_delay_min_ms = 0;
    // What the estimator took the empty path to need, less what it needs: above 0 it overlooks that much of the queue.
    double base_delay_error_mean_ms = 0;
  };
  struct Column {
    std::string_view name;
    double Interval::* member;
  };
  static constexpr std::array<Column, 5> kColumns{{
      {"queueing_delay_mean_ms", &Interval::queueing_delay_mean_ms},
      {"queueing_delay_min_ms", &Interval::queueing_delay_min_ms},
      {"true_queueing_delay_mean_ms", &Interval::true_queueing_delay_mean_ms},
      {"true_queueing_delay_min_ms", &Interval::true_queueing_delay_min_ms},
      {"base_delay_error_mean_ms", &Interval::base_delay_error_mean_ms},
  }};

  // `link` carries the flow's media.
  ArrivalStatisticsRecorder(const LinkSpec& link, int64_t duration_ns);

  // To be called for each packet before the estimator has it.
  void OnReceived(const Packet& packet, int64_t arrival_time_ns);
  // Call once, after the last event.
  void Finish();

  // One for each step of kIntervalNs from time 0 on, the last one possibly shorter; nothing where no packet had a send
  // time.
  const std::vector<std::optional<Interval>>& intervals() const { return intervals_; }

 private:
  void OnTarget(DataRate, Timestamp) override {}
  void OnArrival(const Arrival& arrival) override;
  void OnRoundTripTimeUpdate(const RoundTripTimeUpdate&) override {}

  void FinishIntervalsBefore(int64_t time_ns);
  void FinishInterval();

  const std::optional<CapacityTrace> capacity_;
  const int64_t duration_ns_;
  std::vector<std::optional<Interval>> intervals_;
  IntervalAccumulator accumulator_;
  // The flow's quickest so far.
  int64_t quickest_transmission_ns_ = kNeverNs;
  // Of the packet that the estimator has now: its true queueing delay, and that with jitter.
  int64_t queueing_delay_ns_ = 0;
  int64_t beyond_empty_path_ns_ = 0;
  // Of the interval: packets with a send time, sums and minimum over them.
  int64_t packets_ = 0;
  double queueing_delay_sum_ns_ = 0;
  int64_t queueing_delay_min_ns_ = 0;
  double base_delay_error_sum_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_ARRIVAL_STATISTICS_RECORDER_H_
