// Synthetic video after the statistical model of RFC 8593 section 5, with Opus-like audio beside it.
#ifndef WEIR_SIMULATOR_MEDIA_VIDEO_SOURCE_H_
#define WEIR_SIMULATOR_MEDIA_VIDEO_SOURCE_H_

#include <cstddef>
#include <cstdint>

#include "core/random.h"
#include "media/media_source.h"
#include "scenario/rtp_spec.h"

namespace weir::sim {

// Extensions of RFC 8593, each off by default: an encoder whose output stays below its target, one that stalls, and one
// whose rate follows its target slowly. To a receiver, all of them look like a path of lower capacity. When output is
// low and when it stalls is drawn over time, not frame by frame: whatever a sender does, it has the same content.
//
// The encoder follows a new target only 200 ms after its last change of rate; an abrupt change, like a key frame, is a
// burst: one large frame and small ones that make up for it. Frame sizes vary about their mean with a Laplace
// distribution; unlike there, frames keep to a camera's times, but for a part of a millisecond or two, and at a low
// rate there are fewer of them rather than smaller ones.
class VideoSource final : public MediaSource {
 public:
  // `max_rate`: the encoder's, headers included and audio apart. `overhead_bytes`: what the target pays for in each
  // packet besides its payload.
  VideoSource(MediaSpec media, DataRate max_rate, uint32_t overhead_bytes, RandomStream random);

  void SetTargetRate(DataRate target_rate, int64_t now_ns) override;
  void SetActive(bool active, int64_t now_ns) override;
  void SetFrameDropInterval(int64_t frames) override { frame_drop_interval_ = frames; }
  void HoldFrames(bool hold, int64_t now_ns) override;
  void RequestKeyFrame(int64_t now_ns) override;
  int64_t next_packet_ns() const override;
  MediaPacket TakePacket(int64_t now_ns) override;
  bool elastic() const override { return false; }

 private:
  void EncodeFrame(int64_t now_ns);
  // The size of the next frame over that of an average one.
  double NextRelativeFrameSize(int64_t now_ns);
  // True if the change of the encoder's rate, if any, is one that costs a burst.
  bool FollowTarget(int64_t now_ns);
  // The next frame, had it fallen into a pause, comes at its end.
  void SkipPauses();
  double OutputShare(int64_t now_ns);
  // 1, or more on a stall or before a frame that is dropped.
  int64_t FramesUntilNext();
  MediaPacket TakeAudioPacket(int64_t now_ns);
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
  int64_t last_rate_change_ns_;
  int64_t next_key_frame_ns_ = 0;
  double output_share_ = 1;
  int64_t next_output_share_ns_ = 0;
  // In frames of the camera since time 0: the latest stall, or the next.
  int64_t stall_begin_frame_ = 0;
  int64_t stall_end_frame_ = 0;
  int burst_frames_left_ = 0;
  int64_t frame_drop_interval_ = 0;
  int64_t captured_frames_ = 0;
  int64_t next_frame_ns_;
  // The first pause that is not over.
  size_t next_pause_ = 0;
  // When the camera would have captured that frame, were it exact.
  double camera_ns_ = 0;
  const int64_t audio_interval_ns_;
  int64_t next_audio_ns_;
  // The frame that is being handed out.
  int64_t frame_ns_ = 0;
  bool frame_is_key_ = false;
  bool frame_begins_ = false;
  uint32_t frame_packets_left_ = 0;
  uint32_t frame_bytes_left_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_VIDEO_SOURCE_H_
