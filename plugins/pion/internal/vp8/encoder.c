#include "encoder.h"

#include <stdlib.h>
#include <vpx/vp8cx.h>
#include <vpx/vpx_encoder.h>

enum { kClockHz = 90000, kBitsPerKilobit = 1000 };

struct vp8_encoder {
  vpx_codec_ctx_t codec;
  vpx_codec_enc_cfg_t config;
  // Of a picture, in steps of the clock.
  unsigned long duration;
};

// Those of libwebrtc's LibvpxVp8Encoder for one stream of a camera, but for its denoiser, which is off.
static void configure(vpx_codec_enc_cfg_t* config, unsigned width, unsigned height, unsigned rate_bps) {
  config->g_w = width;
  config->g_h = height;
  config->g_timebase.num = 1;
  config->g_timebase.den = kClockHz;
  config->g_threads = 1;
  config->g_lag_in_frames = 0;
  config->g_error_resilient = 0;
  config->rc_end_usage = VPX_CBR;
  config->rc_target_bitrate = rate_bps / kBitsPerKilobit;
  config->rc_min_quantizer = 2;
  config->rc_max_quantizer = 56;
  config->rc_undershoot_pct = 100;
  config->rc_overshoot_pct = 15;
  config->rc_buf_sz = 1000;
  config->rc_buf_initial_sz = 500;
  config->rc_buf_optimal_sz = 600;
  config->rc_dropframe_thresh = 30;
  config->rc_resize_allowed = 0;
  config->kf_mode = VPX_KF_AUTO;
  config->kf_max_dist = 3000;
}

vp8_encoder* vp8_encoder_new(unsigned width, unsigned height, unsigned frames_per_second, unsigned rate_bps) {
  vp8_encoder* encoder = calloc(1, sizeof *encoder);
  if (encoder == NULL) return NULL;
  if (vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &encoder->config, 0) != VPX_CODEC_OK) {
    free(encoder);
    return NULL;
  }
  encoder->duration = kClockHz / frames_per_second;
  configure(&encoder->config, width, height, rate_bps);
  if (vpx_codec_enc_init(&encoder->codec, vpx_codec_vp8_cx(), &encoder->config, 0) != VPX_CODEC_OK) {
    free(encoder);
    return NULL;
  }
  // A key frame has at most half of the buffer's optimum; in per cent of what each picture has.
  const unsigned key_frame_percent = encoder->config.rc_buf_optimal_sz / 2 * frames_per_second / 10;
  if (vpx_codec_control(&encoder->codec, VP8E_SET_CPUUSED, -6) != VPX_CODEC_OK ||
      vpx_codec_control(&encoder->codec, VP8E_SET_STATIC_THRESHOLD, 1) != VPX_CODEC_OK ||
      vpx_codec_control(&encoder->codec, VP8E_SET_MAX_INTRA_BITRATE_PCT, key_frame_percent) != VPX_CODEC_OK) {
    vp8_encoder_free(encoder);
    return NULL;
  }
  return encoder;
}

void vp8_encoder_free(vp8_encoder* encoder) {
  vpx_codec_destroy(&encoder->codec);
  free(encoder);
}

int vp8_encoder_set_rate(vp8_encoder* encoder, unsigned rate_bps) {
  const unsigned rate_kbps = rate_bps / kBitsPerKilobit;
  if (rate_kbps == encoder->config.rc_target_bitrate) return VPX_CODEC_OK;
  encoder->config.rc_target_bitrate = rate_kbps;
  return vpx_codec_enc_config_set(&encoder->codec, &encoder->config);
}

int vp8_encoder_encode(vp8_encoder* encoder, const uint8_t* picture, int64_t time, int key_frame, vp8_frame* frame) {
  vpx_image_t image;
  // libvpx reads what is wrapped, and has copied it when it returns.
  vpx_img_wrap(&image, VPX_IMG_FMT_I420, encoder->config.g_w, encoder->config.g_h, 1, (unsigned char*)picture);
  const vpx_codec_err_t error = vpx_codec_encode(&encoder->codec, &image, time, encoder->duration,
                                                 key_frame ? VPX_EFLAG_FORCE_KF : 0, VPX_DL_REALTIME);
  *frame = (vp8_frame){0};
  if (error != VPX_CODEC_OK) return error;
  vpx_codec_iter_t position = NULL;
  const vpx_codec_cx_pkt_t* packet;
  while ((packet = vpx_codec_get_cx_data(&encoder->codec, &position)) != NULL) {
    if (packet->kind != VPX_CODEC_CX_FRAME_PKT) continue;
    frame->data = packet->data.frame.buf;
    frame->size_bytes = packet->data.frame.sz;
  }
  return VPX_CODEC_OK;
}

const char* vp8_encoder_error(int error) { return vpx_codec_err_to_string(error); }
