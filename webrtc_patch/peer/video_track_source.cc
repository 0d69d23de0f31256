#include "video_track_source.h"

#include <chrono>
#include <utility>

#include "api/make_ref_counted.h"
#include "api/video/video_frame.h"
#include "program/monotonic_clock.h"

namespace weir::peer {

rtc::scoped_refptr<VideoTrackSource> VideoTrackSource::Create(std::unique_ptr<FrameSource> frames) {
  return rtc::make_ref_counted<VideoTrackSource>(std::move(frames));
}

VideoTrackSource::VideoTrackSource(std::unique_ptr<FrameSource> frames)
    : frames_(std::move(frames)), thread_([this] { Run(); }) {}

VideoTrackSource::~VideoTrackSource() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void VideoTrackSource::Run() {
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> period(1.0 / frames_->format().frames_per_second);
  const Clock::time_point start = Clock::now();
  int64_t index = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    const auto due = start + std::chrono::duration_cast<Clock::duration>(period * static_cast<double>(index));
    if (stopped_.wait_until(lock, due, [this] { return stop_; })) return;
    lock.unlock();
    Deliver(index);
    lock.lock();
    const auto elapsed = static_cast<int64_t>((Clock::now() - start) / period);
    index = std::max(index + 1, elapsed);
  }
}

void VideoTrackSource::Deliver(int64_t index) {
  const int64_t now_us = MonotonicMicros();
  const FrameFormat& format = frames_->format();
  int width = 0;
  int height = 0;
  int crop_width = 0;
  int crop_height = 0;
  int crop_x = 0;
  int crop_y = 0;
  if (!AdaptFrame(format.width, format.height, now_us, &width, &height, &crop_width, &crop_height, &crop_x, &crop_y))
    return;
  rtc::scoped_refptr<webrtc::I420Buffer> picture = frames_->Frame(index);
  if (picture == nullptr) return;
  if (width != format.width || height != format.height) {
    auto scaled = webrtc::I420Buffer::Create(width, height);
    scaled->CropAndScaleFrom(*picture, crop_x, crop_y, crop_width, crop_height);
    picture = std::move(scaled);
  }
  OnFrame(webrtc::VideoFrame::Builder().set_video_frame_buffer(picture).set_timestamp_us(now_us).build());
}

}  // namespace weir::peer
