#include "rtp_packets.h"

#include <algorithm>

namespace weir::janus {
namespace {

constexpr size_t kFixedHeaderBytes = 12;
constexpr size_t kMostStreams = 64;
// IPv4, UDP and the tag of SRTP, which a sender with transport-cc counts.
constexpr uint32_t kTransportBytes = 38;
// The top bit: an SSRC that no other stream of the call has, but by a chance of 2^-32.
constexpr uint32_t kRetransmissionBit = 0x80000000;

uint16_t Read16(std::span<const uint8_t> data, size_t at) {
  return static_cast<uint16_t>(data[at] << 8 | data[at + 1]);
}
uint32_t Read32(std::span<const uint8_t> data, size_t at) {
  return static_cast<uint32_t>(Read16(data, at)) << 16 | Read16(data, at + 2);
}

// RFC 8285, both forms of headers.
void ReadAbsSendTime(std::span<const uint8_t> extensions, bool one_byte, uint8_t id, weir_packet* packet) {
  const size_t header_bytes = one_byte ? 1 : 2;
  for (size_t at = 0; at < extensions.size();) {
    if (extensions[at] == 0) {
      ++at;
      continue;
    }
    if (at + header_bytes > extensions.size()) return;
    const uint8_t found = one_byte ? extensions[at] >> 4 : extensions[at];
    const size_t size = one_byte ? (extensions[at] & 0xf) + 1 : extensions[at + 1];
    at += header_bytes;
    if ((one_byte && found == 15) || at + size > extensions.size()) return;
    if (found == id && size == 3) {
      packet->has_abs_send_time = 1;
      packet->abs_send_time = static_cast<uint32_t>(extensions[at] << 16) | Read16(extensions, at + 1);
      return;
    }
    at += size;
  }
}

// Wrapped differences: above 0 if `a` is after `b`.
bool IsAfter16(uint16_t a, uint16_t b) { return static_cast<int16_t>(a - b) > 0; }
bool IsAfter24(uint32_t a, uint32_t b) { return static_cast<int32_t>((a - b) << 8) > 0; }

}  // namespace

void RetransmissionFinder::Mark(weir_packet* packet) {
  if (packet->kind == WEIR_PACKET_AUDIO || !packet->has_abs_send_time) return;
  const auto stream = std::ranges::find(streams_, packet->ssrc, &Stream::ssrc);
  if (stream == streams_.end()) {
    if (streams_.size() < kMostStreams)
      streams_.push_back({packet->ssrc, packet->sequence_number, packet->abs_send_time, 0});
    return;
  }
  const bool is_newest = IsAfter16(packet->sequence_number, stream->highest_sequence_number);
  if (!is_newest && IsAfter24(packet->abs_send_time, stream->its_send_time)) {
    packet->kind = WEIR_PACKET_RETRANSMISSION;
    packet->ssrc ^= kRetransmissionBit;
    packet->sequence_number = ++stream->retransmissions;
  } else if (is_newest) {
    stream->highest_sequence_number = packet->sequence_number;
    stream->its_send_time = packet->abs_send_time;
  }
}

std::optional<weir_packet> ReadPacket(std::span<const uint8_t> packet, const Negotiated& negotiated) {
  if (packet.size() < kFixedHeaderBytes || packet[0] >> 6 != 2) return std::nullopt;
  const PayloadType& type = negotiated.payload_types[packet[1] & 0x7f];
  if (!type.estimated) return std::nullopt;
  weir_packet read{};
  size_t header_bytes = kFixedHeaderBytes + 4 * static_cast<size_t>(packet[0] & 0xf);
  if (packet[0] & 0x10) {
    if (header_bytes + 4 > packet.size()) return std::nullopt;
    const uint16_t profile = Read16(packet, header_bytes);
    const size_t size = 4 * static_cast<size_t>(Read16(packet, header_bytes + 2));
    header_bytes += 4;
    if (header_bytes + size > packet.size()) return std::nullopt;
    const bool one_byte = profile == 0xbede;
    if (negotiated.abs_send_time_id != 0 && (one_byte || profile >> 4 == 0x100))
      ReadAbsSendTime(packet.subspan(header_bytes, size), one_byte, negotiated.abs_send_time_id, &read);
    header_bytes += size;
  }
  if (header_bytes > packet.size()) return std::nullopt;
  const size_t padding_bytes = packet[0] & 0x20 ? packet.back() : 0;
  if (header_bytes + padding_bytes > packet.size()) return std::nullopt;
  read.ssrc = Read32(packet, 8);
  read.sequence_number = Read16(packet, 2);
  read.payload_type = packet[1] & 0x7f;
  read.rtp_timestamp = Read32(packet, 4);
  read.rtp_clock_rate_hz = type.clock_rate_hz;
  read.header_bytes = static_cast<uint32_t>(header_bytes) + (negotiated.transport_cc ? kTransportBytes : 0);
  read.padding_bytes = static_cast<uint32_t>(padding_bytes);
  read.payload_bytes = static_cast<uint32_t>(packet.size() - header_bytes - padding_bytes);
  const auto kind = !type.is_video            ? WEIR_PACKET_AUDIO
                    : read.payload_bytes == 0 ? WEIR_PACKET_PROBE
                                              : WEIR_PACKET_VIDEO;
  read.kind = static_cast<uint8_t>(kind);
  return read;
}

}  // namespace weir::janus
