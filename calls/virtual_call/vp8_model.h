// Sizes and quantizers of VP8's frames, without pictures.
#ifndef WEIR_CALLS_VIRTUAL_CALL_VP8_MODEL_H_
#define WEIR_CALLS_VIRTUAL_CALL_VP8_MODEL_H_

#include <cstdint>
#include <optional>

#include "core/random.h"

namespace weir::sim {

// The rate control of libvpx with libwebrtc's settings (one pass, constant bitrate, quantizer indices 2 to 106 of
// RFC 6386 section 14.1), over a picture whose bits at a quantizer are those that libvpx spends on the source video of
// calls. `weir-encode` and encoder_comparison.py compare it with libvpx.
//
// 1. A buffer fills with the target rate and drains with frames; below its optimal level frames have a smaller target,
//    above it a larger one. Below a fifth of that level every second frame is dropped, below zero all are.
// 2. A frame has the quantizer that the encoder expects to meet its target. After each frame, the expectation moves
//    toward the frame's size by a quarter of the error.
// 3. After 150 frames, the coarsest quantizer allowed is the average one while the buffer is full and the coarsest of
//    all when it is empty; the finest allowed follows. So rates lag a rise or fall of the target by a second.
class Vp8Model {
 public:
  struct Frame {
    int64_t bytes;
    // Quantizer index, 0 to 127.
    int qp;
    bool key_frame;
  };

  // Sizes in pixels, at least 1.
  Vp8Model(int width, int height, RandomStream random);

  // Both positive; frames_per_second is the encoder's input.
  void SetRate(double rate_bps, double frames_per_second);
  // Call after SetRate(). Returns nullopt if the encoder drops the frame. The first frame is a key frame.
  std::optional<Frame> Encode(bool key_frame);

 private:
  struct Limits {
    double finest;
    double coarsest;
  };
  double KeyFrameTargetBits() const;
  double FrameTargetBits() const;
  Limits FrameLimits(bool golden) const;
  // The next frame's bits relative to those of the average picture.
  double Complexity(int quantizer);
  // Updates the buffer and the expectation `factor` with the frame, and returns its bytes.
  int64_t Spend(double bits, double expected_bits, double* factor);

  RandomStream random_;
  const double macroblocks_;
  const double delta_scale_;
  const double key_scale_;
  double bits_per_frame_ = 0;
  double frames_per_second_ = 0;
  double optimal_buffer_bits_ = 0;
  double max_buffer_bits_ = 0;
  std::optional<double> buffer_bits_;
  // Sizes that the encoder expects, relative to its initial expectation.
  double key_factor_ = 1;
  double delta_factor_ = 1;
  double golden_factor_ = 1;
  int64_t frames_ = 0;
  // Frames dropped since the last encoded one.
  int64_t skipped_ = 0;
  int64_t delta_frames_ = 0;
  int64_t since_key_frame_ = 0;
  double quantizer_sum_ = 0;
  double long_average_quantizer_;
  double recent_average_quantizer_;
  // The effective quantizer of the reference picture.
  double reference_quantizer_ = 0;
  double slow_complexity_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_VP8_MODEL_H_
