// Video encoders whose frames and rates are observed.
#ifndef WEIR_CALLS_VIRTUAL_CALL_OBSERVED_ENCODER_H_
#define WEIR_CALLS_VIRTUAL_CALL_OBSERVED_ENCODER_H_

#include <functional>
#include <memory>
#include <optional>

#include "api/video/video_timing.h"
#include "api/video_codecs/video_encoder_factory.h"
#include "virtual_call/frame_log.h"
#include "weir/units.h"

namespace weir::sim {

using RequestedPlayoutDelay = std::optional<webrtc::VideoPlayoutDelay>;

// Makes the encoders of `factory`. `frames` receives what is captured and encoded, `on_rate` each rate that libwebrtc
// allocates to the encoder and its repair. `playout_delay` is requested with each frame, by a header extension. All
// must outlive the call.
std::unique_ptr<webrtc::VideoEncoderFactory> ObserveEncoders(std::unique_ptr<webrtc::VideoEncoderFactory> factory,
                                                             FrameLog* frames,
                                                             std::function<void(DataRate rate)> on_rate,
                                                             const RequestedPlayoutDelay* playout_delay);

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_OBSERVED_ENCODER_H_
