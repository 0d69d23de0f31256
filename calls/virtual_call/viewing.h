// The video of a call as a viewer sees it, step by step.
#ifndef WEIR_CALLS_VIRTUAL_CALL_VIEWING_H_
#define WEIR_CALLS_VIRTUAL_CALL_VIEWING_H_

#include <cstdint>
#include <deque>

#include "core/sim_time.h"
#include "flows/viewed_step.h"

namespace weir::sim {

// Follows the rendered frames of one call. Freezes are those of W3C webrtc-stats (`freezeCount`): a frame that stays
// for at least max(3 d, d + 150 ms), where d is the mean duration of frames; of the first five frames, for over 1 s.
class Viewing {
 public:
  struct Frame {
    SimTime rendered_time = kTimeZero;
    SimTime capture_time = kTimeZero;
    // The encoder's output in the second up to the frame.
    double bitrate_bps = 0;
    int qp = -1;
  };

  // Call in the order of rendering; a frame may be added before it is rendered.
  void OnFrame(const Frame& frame) { waiting_.push_back(frame); }
  // After Pause() there is no picture until a frame is rendered that was captured at Resume() or later.
  void Pause(SimTime now);
  void Resume(SimTime now) { from_ = now; }

  // Ends the step that began at the previous call. Times do not decrease.
  ViewedStep Finish(SimTime now);

 private:
  static constexpr size_t kFramesAveraged = 30;

  // Renders the waiting frames until `now`.
  void RenderUntil(SimTime now);
  // The last frame is on the screen until `to`.
  void Advance(SimTime to);
  void Render(const Frame& frame);
  // How long the last frame may stay before it counts as frozen.
  SimDuration LongestStay() const;

  std::deque<Frame> waiting_;
  SimTime from_ = SimTime::MinusInfinity();
  SimTime step_start_ = kTimeZero;
  SimTime position_ = kTimeZero;
  // Since the last pause: the number of frames, and when the last ones were rendered.
  int64_t frames_seen_ = 0;
  std::deque<SimTime> rendered_times_;
  double bitrate_bps_ = 0;
  bool frozen_ = false;

  // Sums over this step.
  int64_t frames_ = 0;
  SimDuration frozen_time_ = SimDuration::Zero();
  SimDuration seen_time_ = SimDuration::Zero();
  double bits_ = 0;
  double delay_sum_ms_ = 0;
  double qp_sum_ = 0;
  // Its delay and quantizer are held while nothing is rendered.
  ViewedStep last_;
};

}  // namespace weir::sim

#endif  // WEIR_CALLS_VIRTUAL_CALL_VIEWING_H_
