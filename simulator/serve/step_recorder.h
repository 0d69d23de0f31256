// The report of `serve` on the agent's flow after each step. Keeps one step only.
#ifndef WEIR_SIMULATOR_SERVE_STEP_RECORDER_H_
#define WEIR_SIMULATOR_SERVE_STEP_RECORDER_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

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
  // Records an RTP flow of the scenario; both outlive this.
  StepRecorder(const Scenario& scenario, const FlowSpec& flow);

  void OnSent(const Packet& packet) override { bytes_sent_ += packet.size_bytes; }
  void OnReceived(const Packet& packet, int64_t arrival_time_ns) override;
  void OnDropped(const Packet&) override { ++packets_lost_; }
  void OnTargetRate(DataRate target_rate, int64_t) override { target_rate_ = target_rate; }

  // Ends the step that began at the previous call, or at the flow's start. In the order of kStepFields. `back` is the
  // link that feedback takes, `objective` what the agent is to reach from now on.
  std::array<double, kStepFields.size()> Finish(const Link& link, const Link& back, const Objective& objective,
                                                int64_t now_ns, int64_t next_step_ns);

 private:
  // The number of active flows that compete with this one.
  int64_t Competitors(int64_t time_ns) const;
  // In bit/s of RTP packets, as REMB counts: what the oracle would ask for if its answer took the way of REMB, of the
  // queue that will be there then. At least 0, at most what the media may send.
  double OptimalBps(const Link& link, const Link& back, const Objective& objective, int64_t now_ns) const;

  const FlowSpec& flow_;
  AchievableThroughput achievable_;
  // When each of them sends.
  std::vector<ActiveSpan> competing_spans_;
  // Constant cross traffic beside it.
  std::vector<const FlowSpec*> cross_traffic_;
  int64_t step_start_ns_ = -1;
  int64_t bytes_sent_ = 0;
  int64_t bytes_received_ = 0;
  int64_t packets_lost_ = 0;
  DataRate target_rate_ = DataRate::Zero();
  std::vector<int64_t> delays_ns_;
  // Held while nothing arrives.
  double delay_mean_ms_ = 0;
  double delay_p95_ms_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_SERVE_STEP_RECORDER_H_
