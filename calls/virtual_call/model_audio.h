// An audio codec without sound: packets with Opus's format, rate and timing.
#ifndef WEIR_CALLS_VIRTUAL_CALL_MODEL_AUDIO_H_
#define WEIR_CALLS_VIRTUAL_CALL_MODEL_AUDIO_H_

#include "api/audio_codecs/audio_decoder_factory.h"
#include "api/audio_codecs/audio_encoder_factory.h"
#include "api/scoped_refptr.h"
#include "core/random.h"
#include "weir/units.h"

namespace weir::sim {

// Encoders of 20 ms packets, whose sizes vary around `rate` like those of Opus with a variable bit rate. Of fewer than
// 50 `packets_per_second`, above 0, the others are not sent, as with DTX.
webrtc::scoped_refptr<webrtc::AudioEncoderFactory> MakeModelAudioEncoders(DataRate rate, double packets_per_second,
                                                                          RandomStream random);
// Decoders of these packets, without sound.
webrtc::scoped_refptr<webrtc::AudioDecoderFactory> MakeModelAudioDecoders();

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_MODEL_AUDIO_H_
