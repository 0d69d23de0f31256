#include "flows/tcp_controls.h"

#include <ns3/data-rate.h>
#include <ns3/tcp-socket-state.h>

#include <algorithm>
#include <cmath>

#include "core/event.h"

namespace weir::sim {

using ns3::Ptr;
using ns3::TcpSocketState;

ns3::TypeId TcpBbr::GetTypeId() {
  static const ns3::TypeId type_id = ns3::TypeId("weir::sim::TcpBbr").SetParent<ns3::TcpBbr>();
  return type_id;
}

Ptr<ns3::TcpCongestionOps> TcpBbr::Fork() { return ns3::CopyObject<TcpBbr>(this); }

// The connection sets its window to this at the end of recovery.
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
  const SimTime now = Now();
  if (tcb->m_congState == TcpSocketState::CA_LOSS) last_timeout_ = now;
  ns3::TcpRateOps::TcpRateSample own = sample;
  // Bytes that have left the path without arriving.
  const int64_t lost_bytes =
      int64_t{sample.m_priorInFlight} - int64_t{sample.m_ackedSacked} - int64_t{tcb->m_bytesInFlight.Get()};
  own.m_bytesLoss = static_cast<uint32_t>(std::max<int64_t>(lost_bytes, 0));
  // BBR treats a rate of 0 as no sample.
  const bool sent_after_timeout = connection.m_firstSentTime.GetNanoSeconds() > last_timeout_.ns();
  if (sample.m_ackedSacked == 0 || !sent_after_timeout) own.m_deliveryRate = ns3::DataRate(0);
  const ns3::Time smoothed = tcb->m_lastRtt;
  if (const auto rtt = round_trips_.Sample(*tcb, connection, now)) tcb->m_lastRtt = ns3::NanoSeconds(rtt->ns());
  ns3::TcpBbr::CongControl(tcb, connection, own);
  tcb->m_lastRtt = smoothed;
  if (tcb->m_congState != TcpSocketState::CA_RECOVERY) return;
  const uint32_t conserved_bytes = tcb->m_bytesInFlight + std::max(sample.m_ackedSacked, tcb->m_segmentSize);
  tcb->m_cWnd = std::min(tcb->m_cWnd.Get(), conserved_bytes);
}

namespace {

// The paper's default: a flow keeps 1 / delta packets in the queue.
constexpr double kDelta = 0.5;
constexpr SimDuration kRttMinWindow = SimDuration::Seconds(10);
// Round trips in one direction before the velocity begins to double.
constexpr int kRoundsBeforeDoubling = 3;
constexpr double kMinWindowPackets = 2;
// Bounds the arithmetic, far above velocities in use.
constexpr double kMaxVelocity = 1 << 16;
// RFC 6298.
constexpr int64_t kSmoothing = 8;

}  // namespace

ns3::TypeId TcpCopa::GetTypeId() {
  static const ns3::TypeId type_id = ns3::TypeId("weir::sim::TcpCopa").SetParent<ns3::TcpCongestionOps>();
  return type_id;
}

Ptr<ns3::TcpCongestionOps> TcpCopa::Fork() { return ns3::CopyObject<TcpCopa>(this); }

void TcpCopa::Init(Ptr<TcpSocketState> tcb) {
  tcb->m_pacing = true;
  rtt_min_ = RttFilter(kRttMinWindow.ns(), 0, 0);
  rtt_standing_ = RttFilter(kRttMinWindow.ns(), 0, 0);
}

// The connection sets its window to this at the end of recovery: loss changes nothing.
uint32_t TcpCopa::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t) { return tcb->m_cWnd; }

void TcpCopa::CongControl(Ptr<TcpSocketState> tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                          const ns3::TcpRateOps::TcpRateSample& sample) {
  const SimTime now = Now();
  if (const auto rtt = round_trips_.Sample(*tcb, connection, now)) TakeRtt(*rtt, now);
  if (smoothed_rtt_.IsZero()) return;
  const double segment_bytes = tcb->m_segmentSize;
  double window_packets = tcb->m_cWnd / segment_bytes;
  const double packets_acked = sample.m_ackedSacked / segment_bytes;
  const bool up = IsBelowTarget(window_packets);
  if (slow_start_ && !up) slow_start_ = false;
  if (slow_start_) {
    window_packets += packets_acked;
  } else {
    if (sample.m_priorDelivered >= round_end_delivered_bytes_) {
      round_end_delivered_bytes_ = connection.m_delivered;
      EndRound(tcb->m_cWnd);
    }
    // A velocity reached in the other direction must not overshoot in this one.
    if (velocity_ > 1 && up != (direction_ == Direction::kUp)) {
      velocity_ = 1;
      rounds_in_direction_ = 0;
    }
    const double step = velocity_ * packets_acked / (kDelta * window_packets);
    window_packets += up ? step : -step;
  }
  window_packets = std::max(window_packets, kMinWindowPackets);
  tcb->m_cWnd = static_cast<uint32_t>(std::llround(window_packets * segment_bytes));
  const double standing_s = static_cast<double>(rtt_standing_.GetBest()) * 1e-9;
  const ns3::DataRate rate(static_cast<uint64_t>(2 * 8 * static_cast<double>(tcb->m_cWnd) / standing_s));
  tcb->m_pacingRate = std::min(rate, tcb->m_maxPacingRate);
}

void TcpCopa::TakeRtt(SimDuration rtt, SimTime now) {
  const SimDuration step = SimDuration::Nanos((rtt - smoothed_rtt_).ns() / kSmoothing);
  smoothed_rtt_ = smoothed_rtt_.IsZero() ? rtt : smoothed_rtt_ + step;
  rtt_min_.Update(rtt.ns(), now.ns());
  rtt_standing_.SetWindowLength(smoothed_rtt_.ns() / 2);
  rtt_standing_.Update(rtt.ns(), now.ns());
}

bool TcpCopa::IsBelowTarget(double window_packets) const {
  const auto standing_ns = static_cast<double>(rtt_standing_.GetBest());
  const double queueing_ns = standing_ns - static_cast<double>(rtt_min_.GetBest());
  // window / standing <= 1 / (delta * queueing), without dividing by the delay of an empty queue.
  return window_packets * kDelta * queueing_ns <= standing_ns;
}

void TcpCopa::EndRound(uint32_t window_bytes) {
  const Direction direction = window_bytes > round_start_window_bytes_ ? Direction::kUp : Direction::kDown;
  round_start_window_bytes_ = window_bytes;
  if (direction != direction_) {
    direction_ = direction;
    rounds_in_direction_ = 0;
    velocity_ = 1;
    return;
  }
  ++rounds_in_direction_;
  if (rounds_in_direction_ >= kRoundsBeforeDoubling) velocity_ = std::min(2 * velocity_, kMaxVelocity);
}

}  // namespace weir::sim
