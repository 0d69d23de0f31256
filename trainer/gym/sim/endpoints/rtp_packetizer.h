// Media as RTP packets: SSRCs, sequence numbers, times as the sender's clock shows them.
#ifndef WEIR_TRAINER_GYM_SIM_ENDPOINTS_RTP_PACKETIZER_H_
#define WEIR_TRAINER_GYM_SIM_ENDPOINTS_RTP_PACKETIZER_H_

#include <array>
#include <cstdint>

#include "endpoints/pacer.h"
#include "endpoints/rtp_format.h"
#include "link/packet.h"
#include "scenario/rtp_spec.h"

namespace weir::sim {

class RtpPacketizer {
 public:
  RtpPacketizer(int flow_index, const SenderClock& clock) : flow_index_(flow_index), clock_(clock) {}

  // The next packet of its stream, sent now; where it goes is the caller's to say.
  Packet Take(const PacedPacket& paced, int64_t now_ns);

 private:
  const int flow_index_;
  const SenderClock clock_;
  std::array<int64_t, kStreamsPerFlow> next_sequence_numbers_{};
  int64_t next_transport_sequence_number_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_ENDPOINTS_RTP_PACKETIZER_H_
