// The names of the controllers of real calls.
#ifndef WEIR_CALLS_PEER_CALL_CONTROLLERS_H_
#define WEIR_CALLS_PEER_CALL_CONTROLLERS_H_

#include <array>
#include <string_view>

namespace weir::peer {

// Decide for both ends of a call; ParseReceiveSideMode() parses them.
inline constexpr std::array<std::string_view, 3> kCallControllers{"weir", "gcc", "shadow"};
// Weir at the sender of a call, from transport-wide feedback and from RFC 8888 feedback.
inline constexpr std::array<std::string_view, 2> kSenderControllers{"weir-send", "weir-send-ccfb"};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_CALL_CONTROLLERS_H_
