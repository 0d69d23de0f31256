// BBR (v1) of ns-3 3.37, without five faults that keep it from being the published one (Cardwell et al., ACM Queue
// 14(5), 2016) on a path with jitter or a short queue.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_TCP_BBR_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_TCP_BBR_H_

#include <ns3/tcp-bbr.h>
#include <ns3/tcp-socket-state.h>

#include <cstdint>

#include "flows/round_trip_sampler.h"

namespace weir::sim {

// 1. The connection counts a lost packet again when its retransmission arrives, and BBR takes that from its window.
// 2. Round trip times come smoothed: the minimum of the path is never seen where it changes quickly.
// 3. After fast recovery the connection sets the window to the slow start threshold, which BBR does not keep; it wants
//    the window of before.
// 4. After a timeout, acknowledgements of what was sent again are taken for samples of bandwidth close to 0, each of
//    them for a round trip: ten of them later the bandwidth is forgotten, and the flow sends a packet now and then.
// 5. Packets are not conserved for the first round trip of recovery but until the round in progress ends. Here they are
//    throughout: without RACK (RFC 8985) a retransmission that is lost again costs a timeout.
class TcpBbr final : public ns3::TcpBbr {
 public:
  static ns3::TypeId GetTypeId();

  uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t bytes_in_flight) override;
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb, ns3::TcpSocketState::TcpCongState_t state) override;
  void CongControl(ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                   const ns3::TcpRateOps::TcpRateSample& sample) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override;
  // PROBE_RTT: its window is four packets, so that the queue of its own drains.
  bool MeasuresRoundTripTime() { return GetBbrState() == BBR_PROBE_RTT; }

 private:
  RoundTripSampler round_trips_;
  int64_t last_timeout_ns_ = -1;
  uint32_t window_before_recovery_bytes_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_TCP_BBR_H_
