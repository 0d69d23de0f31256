// The fields of an RTP packet that its call's records need.
#ifndef WEIR_CALLS_VIRTUAL_CALL_RTP_HEADER_H_
#define WEIR_CALLS_VIRTUAL_CALL_RTP_HEADER_H_

#include <cstdint>
#include <optional>
#include <span>

#include "core/sim_time.h"

namespace weir::sim {

struct RtpHeader {
  uint8_t payload_type = 0;
  bool padding = false;
  uint16_t sequence_number = 0;
  uint32_t timestamp = 0;
  uint32_t ssrc = 0;
  // Includes CSRCs and extensions.
  uint32_t size_bytes = 0;
};

inline constexpr size_t kFixedRtpHeaderBytes = 12;

// True for RTP and RTCP, false for other protocols on the same port (RFC 7983).
inline bool IsRtpOrRtcp(std::span<const uint8_t> packet) { return packet.size() >= 8 && packet[0] >> 6 == 2; }
// True if an RTP or RTCP packet is RTCP (RFC 5761 section 4).
inline bool IsRtcp(std::span<const uint8_t> packet) { return packet[1] >= 192 && packet[1] <= 223; }

// Parses a header (RFC 3550 section 5.1). Returns nullopt if the packet is not RTP.
inline std::optional<RtpHeader> ParseRtpHeader(std::span<const uint8_t> packet) {
  if (!IsRtpOrRtcp(packet) || IsRtcp(packet) || packet.size() < kFixedRtpHeaderBytes) return std::nullopt;
  const auto read = [&](size_t at, int bytes) {
    uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | packet[at + static_cast<size_t>(i)];
    return value;
  };
  RtpHeader header{.payload_type = static_cast<uint8_t>(packet[1] & 0x7f),
                   .padding = (packet[0] & 0x20) != 0,
                   .sequence_number = static_cast<uint16_t>(read(2, 2)),
                   .timestamp = read(4, 4),
                   .ssrc = read(8, 4)};
  size_t size = kFixedRtpHeaderBytes + 4 * (packet[0] & 0x0fu);
  if ((packet[0] & 0x10) != 0) {
    if (packet.size() < size + 4) return std::nullopt;
    size += 4 + 4 * read(size + 2, 2);
  }
  if (packet.size() < size) return std::nullopt;
  header.size_bytes = static_cast<uint32_t>(size);
  return header;
}

// Returns the 24 bits of abs-send-time, which is extension `id`, in an RTP packet with one-byte extensions (RFC 8285
// section 4.2); empty if there is none.
inline std::span<uint8_t> FindAbsSendTime(std::span<uint8_t> packet, int id) {
  const std::optional<RtpHeader> header = ParseRtpHeader(packet);
  if (!header || (packet[0] & 0x10) == 0) return {};
  const size_t extension = kFixedRtpHeaderBytes + 4 * (packet[0] & 0x0fu);
  if (packet[extension] != 0xbe || packet[extension + 1] != 0xde) return {};
  for (size_t at = extension + 4; at < header->size_bytes;) {
    if (packet[at] == 0) {
      ++at;
      continue;
    }
    const size_t size = (packet[at] & 0x0fu) + 1;
    if (at + 1 + size > header->size_bytes) return {};
    if (packet[at] >> 4 == id && size == 3) return packet.subspan(at + 1, 3);
    at += 1 + size;
  }
  return {};
}

// Writes a time in the format of abs-send-time: seconds in 6.18 fixed point.
inline void WriteAbsSendTime(std::span<uint8_t> bits, SimTime time) {
  const auto value = static_cast<uint32_t>((static_cast<__int128>(time.ns()) << 18) / 1'000'000'000);
  bits[0] = static_cast<uint8_t>(value >> 16);
  bits[1] = static_cast<uint8_t>(value >> 8);
  bits[2] = static_cast<uint8_t>(value);
}

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_RTP_HEADER_H_
