// For how long a receiver holds audio and video.
#ifndef WEIR_SIMULATOR_MEDIA_PLAYOUT_LIMITS_H_
#define WEIR_SIMULATOR_MEDIA_PLAYOUT_LIMITS_H_

#include "core/sim_time.h"
#include "weir/playout_delay.h"

namespace weir::sim {

// By default libwebrtc's own.
struct PlayoutLimits {
  // The maximum playout delay of video; none by default.
  SimDuration video = SimDuration::Seconds(3600);
  // The share of the largest delays of half seconds that the audio buffer covers.
  double audio_quantile = 0.95;
};

// With Weir at the receiver: webrtc_patch/adapter/playout_field_trials.h.
inline constexpr PlayoutLimits kReceiversPlayout{.video = SimDuration::Millis(150), .audio_quantile = 0.8};
// With Weir at the sender, by the header extension playout-delay: weir/playout_delay.h. Its maximum follows jitter and
// round trip of the receiver's reports, and is the largest one where a queue varies.
inline constexpr PlayoutLimits kSendersPlayout{.video = SimDuration::Micros(kLargestMaxPlayoutDelay.us())};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_PLAYOUT_LIMITS_H_
