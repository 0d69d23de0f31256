// Opus as in a call, at the rate of a scenario's audio.
#ifndef WEIR_CALLS_VIRTUAL_CALL_OPUS_AUDIO_H_
#define WEIR_CALLS_VIRTUAL_CALL_OPUS_AUDIO_H_

#include "api/audio_codecs/audio_encoder_factory.h"
#include "api/scoped_refptr.h"
#include "weir/units.h"

namespace weir::sim {

// Encoders at `rate`, clamped to Opus's limits of 6 and 510 kbps.
webrtc::scoped_refptr<webrtc::AudioEncoderFactory> MakeOpusEncoders(DataRate rate);

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_OPUS_AUDIO_H_
