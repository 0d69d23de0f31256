// Records the agent's flow for the report of `serve` after each step. Keeps only one step.
#ifndef WEIR_SIMULATOR_SERVE_STEP_RECORDER_H_
#define WEIR_SIMULATOR_SERVE_STEP_RECORDER_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/sim_time.h"
#include "endpoints/achievable.h"
#include "link/link.h"
#include "link/packet.h"
#include "scenario/scenario.h"
#include "weir/objective.h"

namespace weir::sim {

inline constexpr std::array<std::string_view, 15> kStepFields{
    "time_s",           "capacity_bps",          "achievable_bps",       "fair_share_bps",        "send_rate_bps",
    "receive_rate_bps", "one_way_delay_mean_ms", "one_way_delay_p95_ms", "base_one_way_delay_ms", "queueing_delay_ms",
    "loss_ratio",       "packets_received",      "target_bps",           "future_capacity_bps",   "optimal_bps"};

class StepRecorder final : public FlowObserver {
 public:
  struct ReceivedPacket {
    PacketArrival rtp;
    SimTime sent_time = kTimeZero;
    SimTime arrival_time = kTimeZero;
  };

  // Records an RTP flow of the scenario; both must outlive this object.
  StepRecorder(const Scenario& scenario, const FlowSpec& flow, bool keep_packets);

  void OnSent(const Packet& packet) override { bytes_sent_ += packet.size_bytes; }
  void OnReceived(const Packet& packet, SimTime arrival_time) override;
  void OnDropped(const Packet&) override { ++packets_lost_; }
  void OnTargetRate(DataRate target_rate, SimTime) override { target_rate_ = target_rate; }

  // Ends the step that began at the previous call or at the flow's start. Returns values in the order of kStepFields.
  // `back` is the link of the feedback, `objective` the agent's objective from now on.
  std::array<double, kStepFields.size()> Finish(const Link& link, const Link& back, const Objective& objective,
                                                SimTime now, SimTime next_step);
  // The packets of the step that Finish() has ended, in the order of arrival.
  const std::vector<ReceivedPacket>& packets() const { return packets_; }
  // Call after Finish() and before the next step.
  void Clear();

 private:
  // The number of active flows that compete with this one.
  int64_t Competitors(SimTime time) const;
  // The oracle's target for the queue at the time at which a REMB sent now takes effect. In bit/s as a receiver counts
  // them: of IP packets with transport-cc, else of RTP packets. At least 0, at most the media's highest rate.
  double OptimalBps(const Link& link, const Link& back, const Objective& objective, SimTime now) const;

  const FlowSpec& flow_;
  const bool keep_packets_;
  AchievableThroughput achievable_;
  // When competing flows send.
  std::vector<ActiveSpan> competing_spans_;
  // Flows of constant cross traffic.
  std::vector<const FlowSpec*> cross_traffic_;
  SimTime step_start_ = SimTime::Nanos(-1);
  int64_t bytes_sent_ = 0;
  int64_t bytes_received_ = 0;
  int64_t packets_lost_ = 0;
  DataRate target_rate_ = DataRate::Zero();
  std::vector<SimDuration> delays_;
  // Held while nothing arrives.
  double delay_mean_ms_ = 0;
  double delay_p95_ms_ = 0;
  std::vector<ReceivedPacket> packets_;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SERVE_STEP_RECORDER_H_
