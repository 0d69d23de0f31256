#include "virtual_call/viewing.h"

#include <algorithm>

namespace weir::sim {
namespace {

constexpr int64_t kFewestFrames = 5;
constexpr SimDuration kLongestFirstStay = SimDuration::Seconds(1);
constexpr SimDuration kLongerBy = SimDuration::Millis(150);
constexpr int64_t kLongerByFactor = 3;

}  // namespace

void Viewing::Pause(SimTime now) {
  RenderUntil(now);
  waiting_.clear();
  rendered_times_.clear();
  frames_seen_ = 0;
  frozen_ = false;
  from_ = kNever;
}

ViewedStep Viewing::Finish(SimTime now) {
  RenderUntil(now);
  const auto duration_ns = static_cast<double>((now - step_start_).ns());
  const auto frames = static_cast<double>(frames_);
  last_.frames_rendered = frames;
  last_.frozen_share = duration_ns > 0 ? static_cast<double>(frozen_time_.ns()) / duration_ns : 0;
  last_.video_bitrate_bps = seen_time_ > SimDuration::Zero() ? bits_ / static_cast<double>(seen_time_.ns()) : 0;
  if (frames_ > 0) {
    last_.end_to_end_delay_ms = delay_sum_ms_ / frames;
    last_.qp = qp_sum_ / frames;
  }
  step_start_ = now;
  frames_ = 0;
  frozen_time_ = seen_time_ = SimDuration::Zero();
  bits_ = delay_sum_ms_ = qp_sum_ = 0;
  return last_;
}

void Viewing::RenderUntil(SimTime now) {
  while (!waiting_.empty() && waiting_.front().rendered_time <= now) {
    Render(waiting_.front());
    waiting_.pop_front();
  }
  Advance(now);
}

void Viewing::Advance(SimTime to) {
  const SimDuration span = NotNegative(to - position_);
  position_ = std::max(position_, to);
  if (rendered_times_.empty()) {
    frozen_time_ += span;
    return;
  }
  seen_time_ += span;
  bits_ += bitrate_bps_ * static_cast<double>(span.ns());
  const SimDuration stay = to - rendered_times_.back();
  if (frozen_) {
    frozen_time_ += span;
  } else if (stay >= LongestStay()) {
    // The whole freeze counts once it is recognized.
    frozen_ = true;
    frozen_time_ += stay;
  }
}

void Viewing::Render(const Frame& frame) {
  if (frame.capture_time < from_) return;
  Advance(frame.rendered_time);
  frozen_ = false;
  bitrate_bps_ = frame.bitrate_bps;
  rendered_times_.push_back(frame.rendered_time);
  if (rendered_times_.size() > kFramesAveraged + 1) rendered_times_.pop_front();
  ++frames_seen_;
  ++frames_;
  delay_sum_ms_ += ToMilliseconds(frame.rendered_time - frame.capture_time);
  qp_sum_ += frame.qp;
}

SimDuration Viewing::LongestStay() const {
  if (frames_seen_ <= kFewestFrames) return kLongestFirstStay + SimDuration::Nanos(1);
  const auto shown_frames = static_cast<int64_t>(rendered_times_.size() - 1);
  const SimDuration usual = SimDuration::Nanos((rendered_times_.back() - rendered_times_.front()).ns() / shown_frames);
  return std::max(kLongerByFactor * usual, usual + kLongerBy);
}

}  // namespace weir::sim
