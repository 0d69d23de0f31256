// The receiver's jitter buffer: when the frames of a video are rendered.
#ifndef WEIR_SIMULATOR_MEDIA_JITTER_BUFFER_H_
#define WEIR_SIMULATOR_MEDIA_JITTER_BUFFER_H_

#include <span>
#include <vector>

#include "core/sim_time.h"
#include "media/frame_recorder.h"
#include "media/playout_limits.h"

namespace weir::sim {

struct RenderedFrame {
  // kNever if it is not decoded.
  SimTime time = kNever;
  // The part of its wait since it was decodable that is for audio.
  SimDuration lip_sync = SimDuration::Zero();
};

// Renders the frames as libwebrtc's receiver does. Decoding takes no time.
//
// 1. A frame is decodable when all its packets and all frames before it have arrived.
// 2. Its due time is the usual arrival of its capture time (`ArrivalLine`) plus the playout delay, at most the limit.
// 3. The decoder gets it 10 ms before its due time, or at once if it is late; a late frame is rendered at once.
// 4. The playout delay grows by the lateness of frames, up to the target, and falls to it at once. The target is the
//    jitter (`FrameJitter`) plus 10 ms for rendering, and not below the delay that audio needs (`LipSync`).
// 5. Arrival, jitter and delays start anew where a frame would be rendered in more than 10 s, or was to be 10 s ago.
// 6. The wait for audio is the time from the due time that a frame would have without audio.
std::vector<RenderedFrame> RenderFrames(std::span<const FrameRecorder::Frame> frames,
                                        std::span<const FrameRecorder::AudioPacket> audio, const PlayoutLimits& limits);

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_JITTER_BUFFER_H_
