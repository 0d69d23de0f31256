// Reads RTP packets as Janus passes them to a plug-in, for the estimator.
#ifndef WEIR_PLUGINS_JANUS_RTP_PACKETS_H_
#define WEIR_PLUGINS_JANUS_RTP_PACKETS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "weir.h"

namespace weir::janus {

struct PayloadType {
  bool estimated = false;  // the sender counts its packets in the rate that REMB limits
  bool is_video = false;
  uint32_t clock_rate_hz = 0;  // 0: unknown
};

// The parts of an answer that the estimator uses.
struct Negotiated {
  std::array<PayloadType, 128> payload_types{};
  uint8_t abs_send_time_id = 0;  // 0: not negotiated
  bool transport_cc = false;
};

// Janus passes a retransmission (RFC 4588) as the packet that it repeats, with that packet's SSRC and sequence number.
// The estimator would take it for a late packet and forget the loss. A retransmission was sent after packets with
// higher sequence numbers, which its abs-send-time shows: such a packet goes into a stream of its own.
class RetransmissionFinder {
 public:
  void Mark(weir_packet* packet);

 private:
  struct Stream {
    uint32_t ssrc;
    uint16_t highest_sequence_number;
    uint32_t its_send_time;
    uint16_t retransmissions;
  };
  std::vector<Stream> streams_;
};

// Returns nothing for a packet that is malformed or not estimated. The arrival time is left at 0.
std::optional<weir_packet> ReadPacket(std::span<const uint8_t> packet, const Negotiated& negotiated);

}  // namespace weir::janus

#endif  // WEIR_PLUGINS_JANUS_RTP_PACKETS_H_
