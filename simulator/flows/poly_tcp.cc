#include "flows/poly_tcp.h"

#include <algorithm>

#include "flows/tcp_controls.h"
#include "weir/units.h"

namespace weir::sim {
namespace {

using ns3::Ptr;
using ns3::TcpSocketState;

// A window as a rate over a round trip of one second. All members have the same round trip time, and no fusion in use
// depends on the scale.
DataRate AsRate(uint32_t window_bytes) {
  return DataRate::BitsPerSecond(std::max<int64_t>(int64_t{8} * window_bytes, 1));
}

// Copies the fields that no control sets: the connection's measurements and configuration.
void CopyMeasured(const TcpSocketState& from, TcpSocketState& to) {
  to.m_initialCWnd = from.m_initialCWnd;
  to.m_initialSsThresh = from.m_initialSsThresh;
  to.m_segmentSize = from.m_segmentSize;
  to.m_isRetransDataAcked = from.m_isRetransDataAcked;
  to.m_lastAckedSeq = from.m_lastAckedSeq;
  to.m_lastAckedSackedBytes = from.m_lastAckedSackedBytes;
  to.m_congState = from.m_congState.Get();
  to.m_ecnState = from.m_ecnState.Get();
  to.m_highTxMark = from.m_highTxMark.Get();
  to.m_nextTxSequence = from.m_nextTxSequence.Get();
  to.m_rcvTimestampValue = from.m_rcvTimestampValue;
  to.m_rcvTimestampEchoReply = from.m_rcvTimestampEchoReply;
  to.m_bytesInFlight = from.m_bytesInFlight.Get();
  to.m_minRtt = from.m_minRtt;
  to.m_lastRtt = from.m_lastRtt.Get();
  to.m_maxPacingRate = from.m_maxPacingRate;
}

}  // namespace

ns3::TypeId PolyTcp::GetTypeId() {
  static const ns3::TypeId type_id = ns3::TypeId("weir::sim::PolyTcp").SetParent<ns3::TcpCongestionOps>();
  return type_id;
}

PolyTcp::PolyTcp(const std::vector<Ptr<ns3::TcpCongestionOps>>& controls, FusionKind fusion, bool hands_back)
    : fusion_{.kind = fusion}, hands_back_(hands_back) {
  for (const Ptr<ns3::TcpCongestionOps>& control : controls) {
    members_.push_back({control, ns3::CreateObject<TcpSocketState>()});
  }
}

PolyTcp::PolyTcp(const PolyTcp& other)
    : TcpCongestionOps(other),
      fusion_(other.fusion_),
      hands_back_(other.hands_back_),
      window_bytes_(other.window_bytes_),
      slow_start_threshold_bytes_(other.slow_start_threshold_bytes_),
      segments_acked_(other.segments_acked_) {
  for (const Member& member : other.members_) {
    members_.push_back({member.control->Fork(), ns3::CopyObject(member.state)});
  }
}

Ptr<ns3::TcpCongestionOps> PolyTcp::Fork() { return ns3::CopyObject<PolyTcp>(this); }

void PolyTcp::Init(Ptr<TcpSocketState> tcb) {
  for (Member& member : members_) {
    member.state = ns3::CopyObject(tcb);
    member.control->Init(member.state);
  }
  window_bytes_ = tcb->m_cWnd;
  slow_start_threshold_bytes_ = tcb->m_ssThresh;
  Follow(*tcb);
}

uint32_t PolyTcp::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytes_in_flight) {
  TakeFrom(*tcb);
  for (Member& member : members_) {
    member.state->m_ssThresh = member.control->GetSsThresh(member.state, bytes_in_flight);
    // In recovery, the connection leaves the window to controls with CongControl(), such as this one. For members
    // without it, RFC 6675 section 5, (4.2) applies.
    const bool in_recovery = member.state->m_congState == TcpSocketState::CA_RECOVERY;
    if (in_recovery && !member.control->HasCongControl()) member.state->m_cWnd = member.state->m_ssThresh.Get();
  }
  slow_start_threshold_bytes_ = pilot().state->m_ssThresh;
  return slow_start_threshold_bytes_;
}

// Precedes CongControl() for the same acknowledgement. Fusing before all members have processed the acknowledgement
// would freeze every window under `min`.
void PolyTcp::IncreaseWindow(Ptr<TcpSocketState>, uint32_t segments_acked) { segments_acked_ = segments_acked; }

void PolyTcp::PktsAcked(Ptr<TcpSocketState> tcb, uint32_t segments_acked, const ns3::Time& rtt) {
  TakeFrom(*tcb);
  for (Member& member : members_) member.control->PktsAcked(member.state, segments_acked, rtt);
  Follow(*tcb);
}

void PolyTcp::CongestionStateSet(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCongState_t state) {
  TakeFrom(*tcb);
  for (Member& member : members_) member.control->CongestionStateSet(member.state, state);
  Follow(*tcb);
}

void PolyTcp::CwndEvent(Ptr<TcpSocketState> tcb, TcpSocketState::TcpCAEvent_t event) {
  TakeFrom(*tcb);
  for (Member& member : members_) member.control->CwndEvent(member.state, event);
  Follow(*tcb);
}

void PolyTcp::CongControl(Ptr<TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                          const ns3::TcpRateOps::TcpRateSample& sample) {
  TakeFrom(*tcb);
  for (Member& member : members_) {
    if (member.control->HasCongControl()) {
      member.control->CongControl(member.state, connection, sample);
    } else if (segments_acked_) {
      member.control->IncreaseWindow(member.state, *segments_acked_);
    }
  }
  segments_acked_.reset();
  if (HandsBack()) HandBack();
  Follow(*tcb);
}

void PolyTcp::TakeFrom(const TcpSocketState& tcb) {
  // The connection sets these by itself when it opens, when it times out and at the end of recovery.
  const bool window_is_new = tcb.m_cWnd != window_bytes_;
  const bool threshold_is_new = tcb.m_ssThresh != slow_start_threshold_bytes_;
  window_bytes_ = tcb.m_cWnd;
  slow_start_threshold_bytes_ = tcb.m_ssThresh;
  for (Member& member : members_) {
    CopyMeasured(tcb, *member.state);
    if (window_is_new) member.state->m_cWnd = window_bytes_;
    if (threshold_is_new) member.state->m_ssThresh = slow_start_threshold_bytes_;
  }
}

bool PolyTcp::HandsBack() {
  const auto bbr = ns3::DynamicCast<TcpBbr>(pilot().control);
  return hands_back_ && !(bbr && bbr->MeasuresRoundTripTime());
}

void PolyTcp::Follow(TcpSocketState& tcb) {
  const TcpSocketState& own = *pilot().state;
  const bool fuses = !HandsBack();
  tcb.m_cWnd = window_bytes_ = fuses ? FusedWindow() : own.m_cWnd.Get();
  tcb.m_ssThresh = slow_start_threshold_bytes_ = own.m_ssThresh;
  tcb.m_pacing = own.m_pacing;
  tcb.m_pacingRate = fuses && own.m_pacing ? FusedPacingRate() : own.m_pacingRate.Get();
}

void PolyTcp::HandBack() {
  const uint32_t window_bytes = FusedWindow();
  for (Member& member : members_) member.state->m_cWnd = window_bytes;
  if (!pilot().state->m_pacing) return;
  const ns3::DataRate rate = FusedPacingRate();
  for (Member& member : members_) member.state->m_pacingRate = rate;
}

uint32_t PolyTcp::FusedWindow() const {
  std::vector<DataRate> windows;
  windows.reserve(members_.size());
  for (const Member& member : members_) windows.push_back(AsRate(member.state->m_cWnd));
  const FusedRate fused = FuseRates(fusion_, windows.front(), std::span(windows).subspan(1));
  return static_cast<uint32_t>(fused.rate.bps() / 8);
}

ns3::DataRate PolyTcp::FusedPacingRate() const {
  std::vector<DataRate> rates;
  rates.reserve(members_.size());
  for (const Member& member : members_) {
    if (!member.state->m_pacing) continue;
    const auto bps = static_cast<int64_t>(member.state->m_pacingRate.Get().GetBitRate());
    rates.push_back(DataRate::BitsPerSecond(std::max<int64_t>(bps, 1)));
  }
  const FusedRate fused = FuseRates(fusion_, rates.front(), std::span(rates).subspan(1));
  return ns3::DataRate(static_cast<uint64_t>(fused.rate.bps()));
}

}  // namespace weir::sim
