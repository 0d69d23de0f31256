// Round trip times as they are, for congestion controls of ns-3, which hands them smoothed ones.
#ifndef WEIR_TRAINER_GYM_SIM_FLOWS_ROUND_TRIP_SAMPLER_H_
#define WEIR_TRAINER_GYM_SIM_FLOWS_ROUND_TRIP_SAMPLER_H_

#include <ns3/tcp-rate-ops.h>
#include <ns3/tcp-socket-state.h>

#include <cstdint>
#include <optional>

namespace weir::sim {

class RoundTripSampler {
 public:
  // To be called on every acknowledgement. In ns; nothing where there is no new sample: of packets that left between the
  // same two acknowledgements the connection tells when the first left; of one that was sent again, or may have been,
  // nobody knows which copy is acknowledged (Karn's rule).
  std::optional<int64_t> Sample(const ns3::TcpSocketState& tcb, const ns3::TcpRateOps::TcpRateConnection& connection,
                                int64_t now_ns) {
    if (tcb.m_congState >= ns3::TcpSocketState::CA_RECOVERY) sent_after_ns_ = now_ns;
    const int64_t sent_ns = connection.m_firstSentTime.GetNanoSeconds();
    if (sent_ns <= sent_after_ns_ || sent_ns >= now_ns) return std::nullopt;
    sent_after_ns_ = sent_ns;
    return now_ns - sent_ns;
  }

 private:
  int64_t sent_after_ns_ = -1;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_FLOWS_ROUND_TRIP_SAMPLER_H_
