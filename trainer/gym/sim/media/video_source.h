// Synthetic video after the statistical model of RFC 8593 section 5, with Opus-like audio beside it.
#ifndef WEIR_TRAINER_GYM_SIM_MEDIA_VIDEO_SOURCE_H_
#define WEIR_TRAINER_GYM_SIM_MEDIA_VIDEO_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/random.h"
#include "media/media_source.h"

namespace weir::sim {

struct VideoSourceConfig {
  // Of the encoder, headers included and audio apart.
  DataRate max_rate = DataRate::KilobitsPerSecond(2'500);
  double frames_per_second = 30.0;
  int64_t key_frame_interval_ns = 10'000'000'000;
  // Of the audio payload; zero for no audio.
  DataRate audio_rate = DataRate::BitsPerSecond(32'000);
  double audio_packets_per_second = 50.0;
  // From and to, in order and apart: no frame is captured in them, and the first one after each is a key frame.
  std::vector<std::pair<int64_t, int64_t>> video_pauses_ns = {};
  // Content that is easier to encode than the target allows: the encoder puts out a share of its target that changes
  // every second or so, between this one and 1.
  double minimum_output_share = 1;
  // Per frame: that a camera or encoder short of time skips the next ones, up to `kMaxStallFrames`.
  double stall_probability = 0;
  // With either above zero, the encoder's rate follows its target with these time constants, in the logarithm, and
  // abrupt changes cost no burst.
  double rise_time_constant_s = 0;
  double fall_time_constant_s = 0;
  // What such an encoder begins at, headers included; zero: its first target.
  DataRate initial_rate = DataRate::Zero();
  // What the target pays for in each packet beside its payload.
  uint32_t overhead_bytes = 0;
};

// Beside RFC 8593, and off unless asked for: an encoder that puts out less than it may, one that stalls, and one
// whose rate follows its target slowly. To a receiver all look like a path that carries less, and are none.
//
// The encoder follows a new target only 200 ms after its last change of rate; an abrupt change, like a key frame, is a
// burst: one large frame and small ones that make up for it. Frame sizes vary about their mean with a Laplace
// distribution; unlike there, frames keep to a camera's times, but for a part of a millisecond or two.
class VideoSource final : public MediaSource {
 public:
  VideoSource(const VideoSourceConfig& config, RandomStream random);

  void SetTargetRate(DataRate target_rate, int64_t now_ns) override;
  void SetActive(bool active, int64_t now_ns) override;
  void RequestKeyFrame(int64_t now_ns) override;
  int64_t next_packet_ns() const override;
  MediaPacket TakePacket(int64_t now_ns) override;
  bool elastic() const override { return false; }

 private:
  void EncodeFrame(int64_t now_ns);
  // The size of the next frame over that of an average one.
  double NextRelativeFrameSize(int64_t now_ns);
  // Whether the change of the encoder's rate, if any, is one that costs a burst.
  bool FollowTarget(int64_t now_ns);
  // The next frame, had it fallen into a pause, comes at its end.
  void SkipPauses();
  double OutputShare(int64_t now_ns);
  // 1, or more when it stalls.
  int64_t FramesUntilNext();
  MediaPacket TakeAudioPacket(int64_t now_ns);
  double Laplace(double scale, double limit);

  const VideoSourceConfig config_;
  RandomStream random_;
  bool active_ = false;
  double requested_rate_bps_ = 0;
  double encoder_rate_bps_ = 0;
  int64_t last_rate_change_ns_;
  int64_t next_key_frame_ns_ = 0;
  double output_share_ = 1;
  int64_t next_output_share_ns_ = 0;
  int burst_frames_left_ = 0;
  int64_t next_frame_ns_;
  // Of the pauses, the first that is not over.
  size_t next_pause_ = 0;
  // When the camera would have captured that frame, were it exact.
  double camera_ns_ = 0;
  const int64_t audio_interval_ns_;
  int64_t next_audio_ns_;
  // Of the frame that is being handed out.
  int64_t frame_ns_ = 0;
  bool frame_is_key_ = false;
  bool frame_begins_ = false;
  uint32_t frame_packets_left_ = 0;
  uint32_t frame_bytes_left_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TRAINER_GYM_SIM_MEDIA_VIDEO_SOURCE_H_
