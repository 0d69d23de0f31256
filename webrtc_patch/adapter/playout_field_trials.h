// Field trials of libwebrtc for receivers of one's own that delay audio and video less.
#ifndef WEIR_WEBRTC_PATCH_ADAPTER_PLAYOUT_FIELD_TRIALS_H_
#define WEIR_WEBRTC_PATCH_ADAPTER_PLAYOUT_FIELD_TRIALS_H_

#include "field_trials.h"

namespace weir {

// Video waits for audio (lip sync), whose buffer keeps the largest delays of half a minute.
//
// 1. The audio buffer covers 80 in place of 95 % of the largest delays of half seconds. On the bundled scenarios audio
//    is played 50 ms earlier, and 1.3 in place of 1.2 % of it is concealed. Lower quantiles gain little more.
// 2. Video is held for at most 150 ms. libwebrtc renders frames as they arrive, without a jitter buffer, if the minimum
//    is 0. With the audio of (1) it is in sync as often as without a limit.
//
// docs/virtual_calls.md has the measurements. A sender or SFU before a receiver that is not its own has the RTP header
// extension playout-delay for video alone: weir/playout_delay.h.
inline FieldTrials PlayoutFieldTrials() {
  return {{"WebRTC-Audio-NetEqDelayManagerConfig", "quantile:0.8"},
          {"WebRTC-ForcePlayoutDelay", "min_ms:10,max_ms:150"}};
}

}  // namespace weir

#endif  // WEIR_WEBRTC_PATCH_ADAPTER_PLAYOUT_FIELD_TRIALS_H_
