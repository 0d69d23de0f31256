// What weir-peer changes in session descriptions, and reads out of them.
#ifndef WEIR_WEBRTC_PATCH_PEER_RTC_SDP_H_
#define WEIR_WEBRTC_PATCH_PEER_RTC_SDP_H_

#include <map>
#include <string>
#include <string_view>

#include "weir/arrival.h"

namespace weir::peer {

// Without the extension for transport-wide sequence numbers and its feedback, so that a sender has no congestion
// control of its own and obeys REMB alone.
std::string WithoutTransportCc(std::string_view sdp);

// An answer that leaves the beginning of the DTLS handshake to the other end.
std::string AsDtlsServer(std::string_view answer);

// With `x-google-start-bitrate` and `x-google-max-bitrate` at every video codec: a Chromium that is told to start high
// follows REMB at once in both directions, else it grows by 8 % a second.
std::string WithStartBitrate(std::string_view sdp, int kbps);

// With "a=tool:weir-peer", by which peers know each other.
std::string WithTool(std::string_view sdp);
bool HasTool(std::string_view sdp);

// What the packets of each payload type are for.
std::map<int, PacketKind> PacketKinds(std::string_view sdp);

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_RTC_SDP_H_
