// REMB, the RTCP message "Receiver Estimated Maximum Bitrate" of draft-alvestrand-rmcat-remb-03.
#ifndef WEIR_RTCP_H_
#define WEIR_RTCP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "weir/units.h"

namespace weir {

inline constexpr size_t kMaxRembSsrcs = 255;
inline constexpr size_t kRembHeaderSize = 20;

// Bytes of a REMB about that many streams.
constexpr size_t RembSize(size_t ssrc_count) { return kRembHeaderSize + 4 * ssrc_count; }

struct Remb {
  // Of who sends the REMB, the receiver of the media.
  uint32_t sender_ssrc = 0;
  // Not negative; 0: libwebrtc reads it as "no limit".
  DataRate rate = DataRate::Zero();
  // At most kMaxRembSsrcs.
  size_t ssrc_count = 0;
  // The first `ssrc_count` count.
  std::array<uint32_t, kMaxRembSsrcs> ssrcs{};
};

// Writes one RTCP packet and returns its size; 0, with nothing written, when `out` is too small, there are more than
// 255 SSRCs, or the rate is not positive and finite (libwebrtc reads 0 bps as "no limit"). Rates are rounded down to 18
// significant bits.
size_t WriteRemb(uint32_t sender_ssrc, DataRate rate, std::span<const uint32_t> ssrcs, std::span<uint8_t> out);

// Reads the one RTCP packet that `packet` holds, without the compound packet around it. Nothing unless it is a
// well-formed REMB: RTP version 2, PT 206, FMT 15, "REMB", and lengths that agree with each other and with `packet`. A
// rate of 0 is reported as such; rates beyond DataRate are malformed.
std::optional<Remb> ParseRemb(std::span<const uint8_t> packet);

}  // namespace weir

#endif  // WEIR_RTCP_H_
