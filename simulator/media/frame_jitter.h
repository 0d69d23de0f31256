// How long a video receiver delays frames so that late ones are in time.
#ifndef WEIR_SIMULATOR_MEDIA_FRAME_JITTER_H_
#define WEIR_SIMULATOR_MEDIA_FRAME_JITTER_H_

#include <cstdint>

#include "core/sim_time.h"

namespace weir::sim {

// Estimates jitter as libwebrtc's JitterEstimator does, without its treatment of the first frames.
//
//   jitter = slope * (max_size - mean_size) + max(1 ms, 2.33 sigma - 30 ms) + 10 ms
//
// `slope` is the transmission time per byte, from a Kalman filter over pairs of frames: the difference of their sizes,
// and that of their delays. `sigma` is the standard deviation of the filter's residual. Below 10 frames/s the estimate
// falls linearly, to 0 at 5 frames/s.
class FrameJitter {
 public:
  // Call for frames in the order of decoding, except those with retransmitted packets. `delay_variation_ms`: the
  // frame's delay less that of the frame before.
  void OnFrame(double delay_variation_ms, double bytes, SimTime now);

  SimDuration Estimate() const;

 private:
  void UpdateSizes(double bytes);
  void UpdateNoise(double residual_ms, SimTime now);
  void UpdateSlope(double residual_ms, double size_variation);
  // Frames/s; 0 if unknown.
  double FrameRate() const { return mean_interval_ms_ > 0 ? 1e3 / mean_interval_ms_ : 0; }

  double previous_bytes_ = 0;
  double mean_bytes_ = 500;
  double variance_bytes2_ = 100;
  double max_bytes_ = 500;

  double slope_ms_per_byte_ = 1.0 / 64'000;
  double slope_variance_ = 1e-4;

  double mean_noise_ms_ = 0;
  double noise_ms2_ = 4;
  int frames_ = 0;
  SimTime last_frame_ = kNever;
  double mean_interval_ms_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_FRAME_JITTER_H_
