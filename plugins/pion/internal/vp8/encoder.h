// A VP8 encoder over libvpx, set as libwebrtc sets it for a camera: constant bitrate, pictures left out where they
// would exceed it, key frames where they are asked for.
#ifndef WEIR_PION_VP8_ENCODER_H_
#define WEIR_PION_VP8_ENCODER_H_

#include <stddef.h>
#include <stdint.h>

typedef struct vp8_encoder vp8_encoder;

typedef struct {
  // Valid until the next call; null where the picture was left out.
  const uint8_t* data;
  size_t size_bytes;
} vp8_frame;

// Null where libvpx refuses.
vp8_encoder* vp8_encoder_new(unsigned width, unsigned height, unsigned frames_per_second, unsigned rate_bps);
void vp8_encoder_free(vp8_encoder* encoder);
// 0, or libvpx's error.
int vp8_encoder_set_rate(vp8_encoder* encoder, unsigned rate_bps);
// `picture` is I420 without padding; `time` is in steps of 1/90000 s and grows. 0, or libvpx's error.
int vp8_encoder_encode(vp8_encoder* encoder, const uint8_t* picture, int64_t time, int key_frame, vp8_frame* frame);
const char* vp8_encoder_error(int error);

#endif  // WEIR_PION_VP8_ENCODER_H_
