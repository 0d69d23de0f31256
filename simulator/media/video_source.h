// Synthetic video after the statistical model of RFC 8593 section 5, with Opus-like audio.
#ifndef WEIR_SIMULATOR_MEDIA_VIDEO_SOURCE_H_
#define WEIR_SIMULATOR_MEDIA_VIDEO_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "core/random.h"
#include "core/sim_time.h"
#include "media/media_source.h"
#include "scenario/rtp_spec.h"

namespace weir::sim {

// Extends RFC 8593, each extension off by default: output that stays below the target, stalls, and a rate that follows
// the target slowly. To a receiver, all of them look like a path of lower capacity. Times of low output and of stalls
// are drawn over time, not per frame, so that the content does not depend on the sender.
//
// The encoder follows a new target only 200 ms after its last change of rate. An abrupt change, like a key frame,
// causes a burst: one large frame and small ones that compensate for it. Frame sizes have a Laplace distribution.
// Unlike in RFC 8593, frames keep to a camera's times within a millisecond or two, and at a low rate there are fewer
// frames rather than smaller ones.
class VideoSource final : public MediaSource {
 public:
  // `max_rate`: the encoder's, including headers but not audio. `overhead_bytes`: bytes per packet, besides payload,
  // that the target counts.
  VideoSource(MediaSpec media, DataRate max_rate, uint32_t overhead_bytes, RandomStream random);

  void SetTargetRate(DataRate target_rate, SimTime now) override;
  void SetActive(bool active, SimTime now) override;
  void SetFrameDropInterval(int64_t frames) override { frame_drop_interval_ = frames; }
  void HoldFrames(bool hold, SimTime now) override;
  void RequestKeyFrame(SimTime now) override;
  SimTime next_packet_time() const override;
  MediaPacket TakePacket(SimTime now) override;
  bool elastic() const override { return false; }

 private:
  void EncodeFrame(SimTime now);
  // The size of the next frame relative to an average one.
  double NextRelativeFrameSize(SimTime now);
  // Updates the encoder's rate. True if the change causes a burst.
  bool FollowTarget(SimTime now);
  // If the next frame is in a pause, moves it to the pause's end.
  void SkipPauses();
  double OutputShare(SimTime now);
  // 1, or more on a stall or before a frame that is dropped.
  int64_t FramesUntilNext();
  MediaPacket TakeAudioPacket(SimTime now);
  double Laplace(double scale, double limit);

  const MediaSpec media_;
  const DataRate max_rate_;
  const uint32_t overhead_bytes_;
  RandomStream random_;
  RandomStream output_shares_;
  RandomStream stalls_;
  bool active_ = false;
  bool held_ = false;
  double requested_rate_bps_ = 0;
  double encoder_rate_bps_ = 0;
  SimTime last_rate_change_;
  SimTime next_key_frame_time_ = kTimeZero;
  double output_share_ = 1;
  SimTime next_output_share_time_ = kTimeZero;
  // The latest stall or the next, in camera frames since time 0.
  int64_t stall_begin_frame_ = 0;
  int64_t stall_end_frame_ = 0;
  int burst_frames_left_ = 0;
  int64_t frame_drop_interval_ = 0;
  int64_t captured_frames_ = 0;
  SimTime next_frame_time_;
  // The first pause that has not ended.
  size_t next_pause_ = 0;
  // When an exact camera would capture the next frame.
  double camera_ns_ = 0;
  const SimDuration audio_interval_;
  SimTime next_audio_time_;
  // The current frame.
  SimTime frame_time_ = kTimeZero;
  bool frame_is_key_ = false;
  bool frame_begins_ = false;
  uint32_t frame_packets_left_ = 0;
  uint32_t frame_bytes_left_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_VIDEO_SOURCE_H_
