// Changes session descriptions, and extracts information from them.
#ifndef WEIR_CALLS_PEER_SDP_H_
#define WEIR_CALLS_PEER_SDP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/jsep.h"
#include "rate_controllers.h"
#include "weir/arrival.h"

namespace weir::peer {

// Removes transport-wide sequence numbers and their feedback, so that a sender follows REMB alone.
void RemoveTransportCc(webrtc::SessionDescriptionInterface& description);

// Lets the other end start the DTLS handshake.
void BecomeDtlsServer(webrtc::SessionDescriptionInterface& answer);

// Adds `x-google-start-bitrate`, unless nothing, and `x-google-max-bitrate` (kMaxBitrateKbps) to every video codec.
// Chromium follows REMB at once up to its own rate, which begins at the start bitrate and grows by 8 % a second, or
// with transport-cc by probes.
inline constexpr int64_t kMaxBitrateKbps = kMaxRateOfReceiver.bps() / 1000;
void SetBitrates(webrtc::SessionDescriptionInterface& description, std::optional<int64_t> start_kbps);

// Kind of packets by payload type.
std::map<int, PacketKind> PacketKinds(const webrtc::SessionDescriptionInterface& description);

// Returns the description as text with "a=tool:weir-peer", by which peers recognize each other.
std::string TextWithTool(const webrtc::SessionDescriptionInterface& description);
bool HasTool(std::string_view sdp);

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_SDP_H_
