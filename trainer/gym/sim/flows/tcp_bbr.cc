#include "flows/tcp_bbr.h"

#include <ns3/data-rate.h>

#include <algorithm>

#include "core/event.h"

namespace weir::sim {

using ns3::Ptr;
using ns3::TcpSocketState;

ns3::TypeId TcpBbr::GetTypeId() {
  static const ns3::TypeId type_id = ns3::TypeId("weir::sim::TcpBbr").SetParent<ns3::TcpBbr>();
  return type_id;
}

Ptr<ns3::TcpCongestionOps> TcpBbr::Fork() { return ns3::CopyObject<TcpBbr>(this); }

// The connection takes this for the window at the end of recovery.
uint32_t TcpBbr::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytes_in_flight) {
  ns3::TcpBbr::GetSsThresh(tcb, bytes_in_flight);
  const bool in_recovery = tcb->m_congState == TcpSocketState::CA_RECOVERY;
  return in_recovery ? std::max(window_before_recovery_bytes_, tcb->m_cWnd.Get()) : tcb->m_cWnd.Get();
}

void TcpBbr::CongestionStateSet(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCongState_t state) {
  if (state == TcpSocketState::CA_RECOVERY) window_before_recovery_bytes_ = tcb->m_cWnd;
  ns3::TcpBbr::CongestionStateSet(tcb, state);
}

void TcpBbr::CongControl(Ptr<TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                         const ns3::TcpRateOps::TcpRateSample& sample) {
  const int64_t now_ns = NowNs();
  if (tcb->m_congState == TcpSocketState::CA_LOSS) last_timeout_ns_ = now_ns;
  ns3::TcpRateOps::TcpRateSample own = sample;
  // What has left the path and has not arrived.
  const int64_t lost_bytes =
      int64_t{sample.m_priorInFlight} - int64_t{sample.m_ackedSacked} - int64_t{tcb->m_bytesInFlight.Get()};
  own.m_bytesLoss = static_cast<uint32_t>(std::max<int64_t>(lost_bytes, 0));
  // BBR takes a rate of 0 for none.
  const bool sent_after_timeout = connection.m_firstSentTime.GetNanoSeconds() > last_timeout_ns_;
  if (sample.m_ackedSacked == 0 || !sent_after_timeout) own.m_deliveryRate = ns3::DataRate(0);
  const ns3::Time smoothed = tcb->m_lastRtt;
  if (const auto rtt_ns = round_trips_.Sample(*tcb, connection, now_ns)) tcb->m_lastRtt = ns3::NanoSeconds(*rtt_ns);
  ns3::TcpBbr::CongControl(tcb, connection, own);
  tcb->m_lastRtt = smoothed;
  if (tcb->m_congState != TcpSocketState::CA_RECOVERY) return;
  const uint32_t conserved_bytes = tcb->m_bytesInFlight + std::max(sample.m_ackedSacked, tcb->m_segmentSize);
  tcb->m_cWnd = std::min(tcb->m_cWnd.Get(), conserved_bytes);
}

}  // namespace weir::sim
