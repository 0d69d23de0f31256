// Changes to session descriptions, and information from them.
#ifndef WEIR_WEBRTC_PATCH_PEER_SDP_H_
#define WEIR_WEBRTC_PATCH_PEER_SDP_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "weir/arrival.h"

namespace weir::peer {

// Removes transport-wide sequence numbers and their feedback, so that a sender follows REMB alone.
std::string WithoutTransportCc(std::string_view sdp);

// Lets the other end start the DTLS handshake.
std::string AsDtlsServer(std::string_view answer);

// Adds `x-google-start-bitrate` and `x-google-max-bitrate` (kMaxBitrateKbps) to every video codec. Chromium follows
// REMB at once up to its own rate, which begins there; without transport-cc it grows by 8 % a second, with it by
// probes.
inline constexpr int64_t kMaxBitrateKbps = 20'000;
std::string WithStartBitrate(std::string_view sdp, int64_t kbps);

// Adds "a=tool:weir-peer", by which peers recognise each other.
std::string WithTool(std::string_view sdp);
bool HasTool(std::string_view sdp);

// The kind of packets of each payload type.
std::map<int, PacketKind> PacketKinds(std::string_view sdp);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_SDP_H_
