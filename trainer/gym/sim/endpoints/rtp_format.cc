#include "endpoints/rtp_format.h"

namespace weir::sim {

Packet RtpPacketizer::Take(const PacedPacket& paced, int64_t now_ns) {
  const MediaPacket& media = paced.media;
  Packet packet;
  packet.size_bytes = kUdpIpOverheadBytes + kRtpHeaderBytes + media.payload_bytes + paced.padding_bytes;
  packet.sent_time_ns = now_ns;
  packet.capture_time_ns = media.capture_time_ns;
  packet.rtp.ssrc = SsrcOf(flow_index_, media.kind);
  const int64_t sequence_number = next_sequence_numbers_[static_cast<size_t>(StreamOf(media.kind))]++;
  packet.rtp.sequence_number = static_cast<uint16_t>(sequence_number);
  packet.rtp.payload_type = PayloadTypeOf(media.kind);
  packet.rtp.kind = media.kind;
  packet.rtp.has_abs_send_time = true;
  packet.rtp.abs_send_time = AbsSendTime(clock_.Shown(now_ns));
  packet.rtp.rtp_timestamp = RtpTimestamp(media.kind, clock_.Shown(media.capture_time_ns));
  packet.rtp.rtp_clock_rate = ClockRateOf(media.kind);
  packet.rtp.header_size = kRtpHeaderBytes;
  packet.rtp.payload_size = media.payload_bytes;
  packet.rtp.padding_size = paced.padding_bytes;
  packet.transport_sequence_number = next_transport_sequence_number_++;
  packet.media_sequence_number =
      media.kind == PacketKind::kRetransmission ? media.retransmitted_sequence_number : sequence_number;
  packet.frame_part = media.frame_part;
  return packet;
}

}  // namespace weir::sim
