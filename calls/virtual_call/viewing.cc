#include "virtual_call/viewing.h"

#include <algorithm>
#include <limits>

namespace weir::sim {
namespace {

constexpr int64_t kFewestFrames = 5;
constexpr int64_t kLongestFirstStayNs = 1'000'000'000;
constexpr int64_t kLongerByNs = 150'000'000;
constexpr int64_t kLongerByFactor = 3;

}  // namespace

void Viewing::Pause(int64_t now_ns) {
  RenderUntil(now_ns);
  waiting_.clear();
  rendered_ns_.clear();
  frames_seen_ = 0;
  frozen_ = false;
  from_ns_ = std::numeric_limits<int64_t>::max();
}

ViewedStep Viewing::Finish(int64_t now_ns) {
  RenderUntil(now_ns);
  const auto duration_ns = static_cast<double>(now_ns - step_start_ns_);
  const auto frames = static_cast<double>(frames_);
  last_.frames_rendered = frames;
  last_.frozen_share = duration_ns > 0 ? static_cast<double>(frozen_ns_) / duration_ns : 0;
  last_.video_bitrate_bps = seen_ns_ > 0 ? bits_ / static_cast<double>(seen_ns_) : 0;
  if (frames_ > 0) {
    last_.end_to_end_delay_ms = delay_sum_ms_ / frames;
    last_.qp = qp_sum_ / frames;
  }
  step_start_ns_ = now_ns;
  frames_ = frozen_ns_ = seen_ns_ = 0;
  bits_ = delay_sum_ms_ = qp_sum_ = 0;
  return last_;
}

void Viewing::RenderUntil(int64_t now_ns) {
  while (!waiting_.empty() && waiting_.front().rendered_ns <= now_ns) {
    Render(waiting_.front());
    waiting_.pop_front();
  }
  Advance(now_ns);
}

void Viewing::Advance(int64_t to_ns) {
  const int64_t span_ns = std::max<int64_t>(0, to_ns - position_ns_);
  position_ns_ = std::max(position_ns_, to_ns);
  if (rendered_ns_.empty()) {
    frozen_ns_ += span_ns;
    return;
  }
  seen_ns_ += span_ns;
  bits_ += bitrate_bps_ * static_cast<double>(span_ns);
  const int64_t stay_ns = to_ns - rendered_ns_.back();
  if (frozen_) {
    frozen_ns_ += span_ns;
  } else if (stay_ns >= LongestStayNs()) {
    // The whole freeze counts once it is recognized.
    frozen_ = true;
    frozen_ns_ += stay_ns;
  }
}

void Viewing::Render(const Frame& frame) {
  if (frame.capture_ns < from_ns_) return;
  Advance(frame.rendered_ns);
  frozen_ = false;
  bitrate_bps_ = frame.bitrate_bps;
  rendered_ns_.push_back(frame.rendered_ns);
  if (rendered_ns_.size() > kFramesAveraged + 1) rendered_ns_.pop_front();
  ++frames_seen_;
  ++frames_;
  delay_sum_ms_ += static_cast<double>(frame.rendered_ns - frame.capture_ns) * 1e-6;
  qp_sum_ += frame.qp;
}

int64_t Viewing::LongestStayNs() const {
  if (frames_seen_ <= kFewestFrames) return kLongestFirstStayNs + 1;
  const int64_t usual_ns = (rendered_ns_.back() - rendered_ns_.front()) / static_cast<int64_t>(rendered_ns_.size() - 1);
  return std::max(kLongerByFactor * usual_ns, usual_ns + kLongerByNs);
}

}  // namespace weir::sim
