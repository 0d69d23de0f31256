// A frame source as a camera: its pictures in real time, reduced in size and rate as the encoder asks.
#ifndef WEIR_WEBRTC_PATCH_PEER_VIDEO_TRACK_SOURCE_H_
#define WEIR_WEBRTC_PATCH_PEER_VIDEO_TRACK_SOURCE_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "frame_source.h"
#include "media/base/adapted_video_track_source.h"

namespace weir::peer {

// Begins at once, on a thread of its own, and stops when destroyed. Where the machine falls behind, pictures are left
// out, so that picture n is that of time n / frames_per_second.
class VideoTrackSource : public rtc::AdaptedVideoTrackSource {
 public:
  static rtc::scoped_refptr<VideoTrackSource> Create(std::unique_ptr<FrameSource> frames);
  ~VideoTrackSource() override;
  VideoTrackSource(const VideoTrackSource&) = delete;
  VideoTrackSource& operator=(const VideoTrackSource&) = delete;

  SourceState state() const override { return kLive; }
  bool remote() const override { return false; }
  bool is_screencast() const override { return false; }
  absl::optional<bool> needs_denoising() const override { return false; }

 protected:
  explicit VideoTrackSource(std::unique_ptr<FrameSource> frames);

 private:
  void Run();
  void Deliver(int64_t index);

  const std::unique_ptr<FrameSource> frames_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace weir::peer

#endif  // WEIR_WEBRTC_PATCH_PEER_VIDEO_TRACK_SOURCE_H_
