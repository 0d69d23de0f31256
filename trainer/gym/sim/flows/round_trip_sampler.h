// Round trip times as they are, for congestion controls of ns-3, which hands them smoothed ones.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_ROUND_TRIP_SAMPLER_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_ROUND_TRIP_SAMPLER_H_

#include <ns3/tcp-option-ts.h>
#include <ns3/tcp-rate-ops.h>
#include <ns3/tcp-socket-state.h>

#include <cstdint>
#include <optional>

namespace weir::sim {

class RoundTripSampler {
 public:
  // To be called on every acknowledgement. In ns; nothing where there is no new sample: of packets that left between
  // the same two acknowledgements the connection tells when the first left; of one that was sent again nobody knows
  // which copy is acknowledged (Karn's rule).
  std::optional<int64_t> Sample(const ns3::TcpSocketState& tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                                int64_t now_ns) {
    if (tcb.m_congState >= ns3::TcpSocketState::CA_RECOVERY) sent_after_ns_ = now_ns;
    const int64_t sent_ns = connection.m_firstSentTime.GetNanoSeconds();
    if (sent_ns <= sent_after_ns_ || sent_ns >= now_ns) return std::nullopt;
    sent_after_ns_ = sent_ns;
    // After a timeout there are copies under way in every state of the connection. What is echoed (RFC 7323) is older
    // than the last packet by no more than an acknowledgement is delayed.
    const auto echo_ns = ns3::TcpOptionTS::ElapsedTimeFromTsValue(tcb.m_rcvTimestampEchoReply).GetNanoSeconds();
    if (now_ns - sent_ns < echo_ns - kLongestDelayedAckNs) return std::nullopt;
    return now_ns - sent_ns;
  }

 private:
  // With the granularity of the echo.
  static constexpr int64_t kLongestDelayedAckNs = 42'000'000;

  int64_t sent_after_ns_ = -1;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_ROUND_TRIP_SAMPLER_H_
