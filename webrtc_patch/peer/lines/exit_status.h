// How weir-peer ends.
#ifndef WEIR_WEBRTC_PATCH_PEER_LINES_EXIT_STATUS_H_
#define WEIR_WEBRTC_PATCH_PEER_LINES_EXIT_STATUS_H_

namespace weir::peer {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;
inline constexpr int kMissingComponent = 3;

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_LINES_EXIT_STATUS_H_
