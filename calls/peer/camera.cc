#include "camera.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/video/video_frame.h"

namespace weir::peer {

using webrtc::TimeDelta;
using webrtc::Timestamp;

Camera::Camera(std::unique_ptr<FrameSource> frames, CameraTiming timing, webrtc::Clock* clock,
               webrtc::TaskQueueFactory* task_queues)
    : frames_(std::move(frames)),
      timing_(std::move(timing)),
      clock_(clock),
      queue_(task_queues->CreateTaskQueue("camera", webrtc::TaskQueueFactory::Priority::kHigh)) {}

void Camera::SetCapturing(bool capturing) {
  queue_->PostTask([this, capturing] {
    if (std::exchange(capturing_, capturing) == capturing) return;
    if (capturing) {
      Start();
    } else {
      task_.Stop();
    }
  });
}

void Camera::Start() {
  if (start_.IsInfinite()) start_ = clock_->CurrentTime() + timing_.phase;
  const auto due_in = [this] { return std::max(TimeDelta::Zero(), TimeOf(index_) - clock_->CurrentTime()); };
  // After a pause, continues with the next due picture.
  while (TimeOf(index_) < clock_->CurrentTime()) ++index_;
  task_ = webrtc::RepeatingTaskHandle::DelayedStart(
      queue_.get(), due_in(), [this] { return CaptureAndWait(); }, webrtc::TaskQueueBase::DelayPrecision::kHigh,
      clock_);
}

TimeDelta Camera::CaptureAndWait() {
  Deliver(index_);
  const Timestamp now = clock_->CurrentTime();
  ++index_;
  const double period_us = 1e6 / frames_->format().frames_per_second;
  index_ = std::max(index_, static_cast<int64_t>((now - start_).us<double>() / period_us));
  const TimeDelta lateness = timing_.lateness ? timing_.lateness() : TimeDelta::Zero();
  return std::max(TimeDelta::Zero(), TimeOf(index_) + lateness - now);
}

Timestamp Camera::TimeOf(int64_t index) const {
  const double period_us = 1e6 / frames_->format().frames_per_second;
  return start_ + TimeDelta::Micros(std::llround(period_us * static_cast<double>(index)));
}

void Camera::Deliver(int64_t index) {
  const int64_t now_us = clock_->TimeInMicroseconds();
  const FrameFormat& format = frames_->format();
  int width = 0;
  int height = 0;
  int crop_width = 0;
  int crop_height = 0;
  int crop_x = 0;
  int crop_y = 0;
  if (!AdaptFrame(format.width, format.height, now_us, &width, &height, &crop_width, &crop_height, &crop_x, &crop_y))
    return;
  webrtc::scoped_refptr<webrtc::I420Buffer> picture = frames_->Frame(timing_.first_picture + index);
  if (picture == nullptr) return;
  if (width != format.width || height != format.height) {
    auto scaled = webrtc::I420Buffer::Create(width, height);
    scaled->CropAndScaleFrom(*picture, crop_x, crop_y, crop_width, crop_height);
    picture = std::move(scaled);
  }
  OnFrame(webrtc::VideoFrame::Builder().set_video_frame_buffer(picture).set_timestamp_us(now_us).build());
}

}  // namespace weir::peer
