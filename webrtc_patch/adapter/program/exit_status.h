// How weir-sim and weir-peer end.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_EXIT_STATUS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_EXIT_STATUS_H_

namespace weir {

inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;
inline constexpr int kMissingComponent = 3;

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PROGRAM_EXIT_STATUS_H_
