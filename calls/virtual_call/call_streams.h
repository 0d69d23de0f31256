// The random streams of a virtual call, as offsets for Flow::Random().
#ifndef WEIR_CALLS_VIRTUAL_CALL_CALL_STREAMS_H_
#define WEIR_CALLS_VIRTUAL_CALL_CALL_STREAMS_H_

#include <cstdint>

#include "endpoints/flow.h"

namespace weir::sim {

inline constexpr uint64_t kSenderNoiseStream = Flow::kFirstStackStream;
inline constexpr uint64_t kReceiverNoiseStream = Flow::kFirstStackStream + 1;
inline constexpr uint64_t kCameraStream = Flow::kFirstStackStream + 2;
inline constexpr uint64_t kEncoderStream = Flow::kFirstStackStream + 3;
inline constexpr uint64_t kAudioStream = Flow::kFirstStackStream + 4;

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_CALL_STREAMS_H_
