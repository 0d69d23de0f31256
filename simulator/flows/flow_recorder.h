// The record of a flow in `run`: counts, the distribution of one-way delays, a series in steps of 0.1 s, and frames.
#ifndef WEIR_SIMULATOR_FLOWS_FLOW_RECORDER_H_
#define WEIR_SIMULATOR_FLOWS_FLOW_RECORDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/sim_time.h"
#include "link/delay_distribution.h"
#include "link/packet.h"
#include "media/frame_recorder.h"

namespace weir::sim {

inline constexpr SimDuration kSeriesInterval = SimDuration::Millis(100);

// The number of steps of a series over `duration`. The last step may be shorter.
constexpr size_t SeriesLength(SimDuration duration) {
  return static_cast<size_t>((duration.ns() + kSeriesInterval.ns() - 1) / kSeriesInterval.ns());
}

class FlowRecorder final : public FlowObserver {
 public:
  struct Step {
    double target_bps = 0;
    // The rate of the last REMB; 0 before the first.
    double remb_bps = 0;
    int64_t bytes_sent = 0;
    // Included in `bytes_sent`.
    int64_t retransmitted_bytes_sent = 0;
    int64_t probe_bytes_sent = 0;
    int64_t bytes_received = 0;
    int64_t packets_lost = 0;
    int64_t packets_lost_at_queue = 0;
    int64_t feedback_sent = 0;
    // The longest delay of the feedback that arrived in this step; empty if none arrived.
    std::optional<double> feedback_delay_ms;
    // In-order payload of a TCP flow.
    int64_t bytes_delivered = 0;
    // Empty if nothing arrived.
    std::optional<double> delay_mean_ms;
    std::optional<double> delay_p95_ms;
  };

  // `stop`: when the flow stops sending, at the latest with the scenario. `queueing_delays`: records them
  // separately, which is not needed if the path's own delay is constant.
  FlowRecorder(SimDuration duration, SimTime stop, bool series, bool queueing_delays = false);

  void OnSent(const Packet& packet) override;
  void OnReceived(const Packet& packet, SimTime arrival_time) override;
  void OnDropped(const Packet& packet) override;
  void OnRecovered(const Packet& packet, SimTime time) override;
  void OnTargetRate(DataRate target_rate, SimTime time) override;
  void OnFeedbackSent(SimTime time) override;
  void OnFeedbackReceived(SimTime sent_time, SimTime time) override;
  void OnRembSent(DataRate rate, SimTime time) override;
  void OnBytesInFlight(int64_t bytes, SimTime time) override;
  void OnDelivered(int64_t bytes, SimTime time) override;

  // Call once, after the last event.
  void Finish();

  int64_t packets_sent = 0;
  int64_t bytes_sent = 0;
  int64_t packets_received = 0;
  int64_t bytes_received = 0;
  int64_t packets_lost = 0;
  // By cause: by chance, at a policer, at a queue.
  int64_t packets_lost_by_chance = 0;
  int64_t packets_lost_at_policer = 0;
  int64_t packets_lost_at_queue = 0;
  // Time in which the latest arrival had a delay above 400 ms, until the flow stops.
  SimDuration above_400_ms = SimDuration::Zero();
  // One-way delays of received packets.
  DelayDistribution delays;
  // One-way delays less the path's own delay of each packet. Empty unless requested.
  DelayDistribution queueing_delays;
  // Empty without a series.
  std::vector<Step> steps;
  // The maximum of a TCP flow in each step. Empty without a series or a transfer.
  std::vector<int64_t> most_bytes_in_flight;
  // Null if frames are not recorded. Set before the first packet.
  std::unique_ptr<FrameRecorder> frames;

 private:
  // A rate that holds from `step` on, the first step whose column is not yet filled.
  struct HeldRate {
    double Step::* column;
    double bps = 0;
    size_t step = 0;
  };

  size_t StepIndex(SimTime time) const;
  // Null without a series.
  Step* StepAt(SimTime time);
  void SetRate(HeldRate& held, DataRate rate, SimTime time);
  void FillRate(HeldRate& held, size_t end_step);
  void FinishDelays(size_t step_index);

  const SimTime end_;
  const SimTime stop_;
  const bool series_;
  const bool keeps_queueing_delays_;
  SimTime last_arrival_ = kTimeZero;
  bool last_above_400_ms_ = false;
  // The step of the latest arrival.
  size_t arrival_step_ = 0;
  std::vector<SimDuration> step_delays_;
  HeldRate target_{&Step::target_bps};
  HeldRate remb_{&Step::remb_bps};
  // As last reported.
  int64_t bytes_in_flight_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_FLOW_RECORDER_H_
