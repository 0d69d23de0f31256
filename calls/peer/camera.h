// A camera whose pictures are those of a frame source.
#ifndef WEIR_CALLS_PEER_CAMERA_H_
#define WEIR_CALLS_PEER_CAMERA_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "api/task_queue/task_queue_base.h"
#include "api/task_queue/task_queue_factory.h"
#include "api/units/time_delta.h"
#include "api/units/timestamp.h"
#include "frame_source.h"
#include "media/base/adapted_video_track_source.h"
#include "rtc_base/task_utils/repeating_task.h"
#include "system_wrappers/include/clock.h"

namespace weir::peer {

struct CameraTiming {
  // Time from the start of capturing to the first picture, at least 0.
  webrtc::TimeDelta phase = webrtc::TimeDelta::Zero();
  // Index of the first picture in the frame source.
  int64_t first_picture = 0;
  // Returns a random delay for the capture of each picture, less than the time between two; null: no delay.
  std::function<webrtc::TimeDelta()> lateness = nullptr;
};

// Delivers the pictures of a frame source at their times, reduced in size and rate as the encoder requests. If the
// machine is too slow, pictures are dropped: picture n is due at time n / frames_per_second. Captures on its own task
// queue until destroyed. Create it with make_ref_counted().
class Camera : public webrtc::AdaptedVideoTrackSource {
 public:
  ~Camera() override = default;
  Camera(const Camera&) = delete;
  Camera& operator=(const Camera&) = delete;

  // Starts or stops the delivery of pictures, which is off at first. May be called from any thread.
  void SetCapturing(bool capturing);

  SourceState state() const override { return kLive; }
  bool remote() const override { return false; }
  bool is_screencast() const override { return false; }
  std::optional<bool> needs_denoising() const override { return false; }

 protected:
  Camera(std::unique_ptr<FrameSource> frames, CameraTiming timing, webrtc::Clock* clock,
         webrtc::TaskQueueFactory* task_queues);

 private:
  // These run on the task queue.
  void Start();
  webrtc::TimeDelta CaptureAndWait();
  void Deliver(int64_t index);
  webrtc::Timestamp TimeOf(int64_t index) const;

  const std::unique_ptr<FrameSource> frames_;
  const CameraTiming timing_;
  webrtc::Clock* const clock_;
  // Time of picture 0; infinite before capturing starts.
  webrtc::Timestamp start_ = webrtc::Timestamp::MinusInfinity();
  int64_t index_ = 0;
  bool capturing_ = false;
  webrtc::RepeatingTaskHandle task_;
  // Last: its tasks use the rest.
  const std::unique_ptr<webrtc::TaskQueueBase, webrtc::TaskQueueDeleter> queue_;
};

}  // namespace weir::peer

#endif  // WEIR_CALLS_PEER_CAMERA_H_
