// Copa, default mode: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet" (NSDI
// 2018), section 2. Not here: the mode that competes with buffer-filling flows (section 2.2).
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_TCP_COPA_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_TCP_COPA_H_

#include <ns3/tcp-congestion-ops.h>
#include <ns3/windowed-filter.h>

#include <cstdint>
#include <string>

#include "flows/round_trip_sampler.h"

namespace weir::sim {

// Steers to the rate 1 / (delta * queueing delay) in packets a second. Does not react to loss.
class TcpCopa final : public ns3::TcpCongestionOps {
 public:
  static ns3::TypeId GetTypeId();

  std::string GetName() const override { return "TcpCopa"; }
  void Init(ns3::Ptr<ns3::TcpSocketState> tcb) override;
  uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t bytes_in_flight) override;
  void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState>, uint32_t) override {}
  bool HasCongControl() const override { return true; }
  void CongControl(ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                   const ns3::TcpRateOps::TcpRateSample& sample) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override;

 private:
  enum class Direction : int8_t { kNone, kUp, kDown };
  // Of ns; 0 stands for no sample.
  using RttFilter = ns3::WindowedFilter<int64_t, ns3::MinFilter<int64_t>, int64_t, int64_t>;

  void TakeRtt(int64_t rtt_ns, int64_t now_ns);
  // Once a round trip: the velocity doubles while the window keeps its direction.
  void EndRound(uint32_t window_bytes);
  // Whether the rate 1 / (delta * queueing delay) is above that of the window.
  bool IsBelowTarget(double window_packets) const;

  RttFilter rtt_min_;
  RttFilter rtt_standing_;
  int64_t smoothed_rtt_ns_ = 0;
  RoundTripSampler round_trips_;
  bool slow_start_ = true;
  double velocity_ = 1;
  Direction direction_ = Direction::kNone;
  int rounds_in_direction_ = 0;
  // Of all that the connection delivers, where the round trip ends.
  uint64_t round_end_delivered_bytes_ = 0;
  uint32_t round_start_window_bytes_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_TCP_COPA_H_
