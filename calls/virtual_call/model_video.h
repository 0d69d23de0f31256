// Video codecs without pictures: an encoder that models VP8's frame sizes, and a decoder for packets of any encoder.
#ifndef WEIR_CALLS_VIRTUAL_CALL_MODEL_VIDEO_H_
#define WEIR_CALLS_VIRTUAL_CALL_MODEL_VIDEO_H_

#include <memory>

#include "api/video_codecs/video_decoder_factory.h"
#include "api/video_codecs/video_encoder_factory.h"
#include "core/random.h"
#include "frame_source.h"

namespace weir::sim {

// A single black picture, for encoders that ignore pictures.
std::unique_ptr<peer::FrameSource> MakeBlankPictures(const peer::FrameFormat& format);

// Encoders of VP8's format. At libwebrtc's bitrate and frame rate, frames have about the sizes that libvpx gives a
// moving picture.
std::unique_ptr<webrtc::VideoEncoderFactory> MakeModelEncoders(RandomStream random);

// Decoders of VP8 and VP9 that output a black picture of the frame's size at once.
std::unique_ptr<webrtc::VideoDecoderFactory> MakeModelDecoders();

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_MODEL_VIDEO_H_
