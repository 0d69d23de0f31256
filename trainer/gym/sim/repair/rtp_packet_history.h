// The sender's half of the repair of lossy video: what it has sent, and may send again (RFC 4588), in the manner of
// libwebrtc's RtpPacketHistory.
#ifndef WEIR_TRAINER_GYM_SIM_REPAIR_RTP_PACKET_HISTORY_H_
#define WEIR_TRAINER_GYM_SIM_REPAIR_RTP_PACKET_HISTORY_H_

#include <cstdint>
#include <optional>

#include "core/ring_buffer.h"
#include "link/packet.h"
#include "media/media_source.h"

namespace weir::sim {

class RtpPacketHistory {
 public:
  // A packet of the video stream, or a retransmission of one; originals come without gaps, from sequence number 0 on.
  void OnSent(const Packet& packet, int64_t now_ns);
  void SetRoundTripTime(int64_t round_trip_time_ns);

  // The packet to send again, which is then taken to wait for the pacer; nothing when it is not known any more, waits
  // already, or was sent again within a round trip.
  std::optional<MediaPacket> TakeForRetransmission(int64_t sequence_number, int64_t now_ns);

 private:
  struct Stored {
    int64_t capture_time_ns = 0;
    int64_t sent_ns = 0;
    uint32_t payload_bytes = 0;
    FramePart frame_part;
    bool sent_again = false;
    bool waits = false;
  };

  Stored* Find(int64_t sequence_number);
  void Cull(int64_t now_ns);

  // From `first_sequence_number_` on.
  RingBuffer<Stored> stored_;
  int64_t first_sequence_number_ = 0;
  int64_t round_trip_time_ns_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_REPAIR_RTP_PACKET_HISTORY_H_
