// Congestion controls that ns-3 lacks (Copa) or has with faults (BBR).
#ifndef WEIR_SIMULATOR_FLOWS_TCP_CONTROLS_H_
#define WEIR_SIMULATOR_FLOWS_TCP_CONTROLS_H_

#include <ns3/tcp-bbr.h>
#include <ns3/tcp-congestion-ops.h>
#include <ns3/tcp-option-ts.h>
#include <ns3/tcp-rate-ops.h>
#include <ns3/tcp-socket-state.h>
#include <ns3/windowed-filter.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/sim_time.h"

namespace weir::sim {

class RoundTripSampler {
 public:
  // Call on every acknowledgement. Returns nullopt without a new sample: the connection reports only the first
  // of the packets sent between the same two acknowledgements, and which copy of a retransmitted packet is acknowledged
  // is unknown (Karn).
  std::optional<SimDuration> Sample(const ns3::TcpSocketState& tcb,
                                    const ns3::TcpRateOps::TcpRateConnection& connection, SimTime now) {
    if (tcb.m_congState >= ns3::TcpSocketState::CA_RECOVERY) sent_after_ = now;
    const SimTime sent = SimTime::Nanos(connection.m_firstSentTime.GetNanoSeconds());
    if (sent <= sent_after_ || sent >= now) return std::nullopt;
    sent_after_ = sent;
    // After a timeout, copies may be in flight in every state of the connection. The echoed time (RFC 7323) is older
    // than the last packet at most by the delay of an acknowledgement.
    const SimDuration echo =
        SimDuration::Nanos(ns3::TcpOptionTS::ElapsedTimeFromTsValue(tcb.m_rcvTimestampEchoReply).GetNanoSeconds());
    if (now - sent < echo - kLongestDelayedAck) return std::nullopt;
    return now - sent;
  }

 private:
  // Includes the granularity of the echo.
  static constexpr SimDuration kLongestDelayedAck = SimDuration::Millis(42);

  SimTime sent_after_ = SimTime::Nanos(-1);
};

// ns-3's BBRv1 without five of its faults:
// 1. The connection counts a lost packet again when its retransmission arrives, and BBR subtracts it from its window.
// 2. Round trip times are smoothed, which hides the path's minimum if it changes quickly.
// 3. After fast recovery the connection sets the window to the slow start threshold, which BBR does not maintain; BBR
//    needs the window from before recovery.
// 4. After a timeout, acknowledgements of retransmissions count as bandwidth samples close to 0, and each as a round
//    trip: after ten of them the bandwidth is forgotten, and the flow sends only an occasional packet.
// 5. Packets are conserved until the round in progress ends instead of for the first round trip of recovery. Here they
//    are conserved throughout recovery: without RACK (RFC 8985) a lost retransmission costs a timeout.
class TcpBbr final : public ns3::TcpBbr {
 public:
  static ns3::TypeId GetTypeId();

  uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> tcb, uint32_t bytes_in_flight) override;
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> tcb, ns3::TcpSocketState::TcpCongState_t state) override;
  void CongControl(ns3::Ptr<ns3::TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                   const ns3::TcpRateOps::TcpRateSample& sample) override;
  ns3::Ptr<ns3::TcpCongestionOps> Fork() override;
  // True in PROBE_RTT: the window is four packets, so that the flow's own queue drains.
  bool MeasuresRoundTripTime() { return GetBbrState() == BBR_PROBE_RTT; }

 private:
  RoundTripSampler round_trips_;
  SimTime last_timeout_ = SimTime::Nanos(-1);
  uint32_t window_before_recovery_bytes_ = 0;
};

// Steers to the rate 1 / (delta * queueing delay) in packets per second. Does not react to loss.
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
  // In ns; 0 stands for no sample.
  using RttFilter = ns3::WindowedFilter<int64_t, ns3::MinFilter<int64_t>, int64_t, int64_t>;

  void TakeRtt(SimDuration rtt, SimTime now);
  // Called once per round trip. Doubles the velocity while the window keeps its direction.
  void EndRound(uint32_t window_bytes);
  // True if the rate 1 / (delta * queueing delay) is above that of the window.
  bool IsBelowTarget(double window_packets) const;

  RttFilter rtt_min_;
  RttFilter rtt_standing_;
  SimDuration smoothed_rtt_ = SimDuration::Zero();
  RoundTripSampler round_trips_;
  bool slow_start_ = true;
  double velocity_ = 1;
  Direction direction_ = Direction::kNone;
  int rounds_in_direction_ = 0;
  // Total bytes delivered by the connection at which the round trip ends.
  uint64_t round_end_delivered_bytes_ = 0;
  uint32_t round_start_window_bytes_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_TCP_CONTROLS_H_
