// The video of an RTP flow as a viewer saw it in one step of an environment.
#ifndef WEIR_SIMULATOR_FLOWS_VIEWED_STEP_H_
#define WEIR_SIMULATOR_FLOWS_VIEWED_STEP_H_

#include <array>
#include <string_view>

namespace weir::sim {

struct ViewedStep {
  double frames_rendered = 0;
  // Time in which the picture stood frozen, or in which there was none, as a share of the step. A freeze counts from
  // its beginning, in the step in which it becomes one: above 1 if it began in an earlier step.
  double frozen_share = 0;
  // The encoder's, for what was on the screen; 0 without a picture.
  double video_bitrate_bps = 0;
  // From capture to rendering: the mean of the rendered frames; held while nothing is rendered.
  double end_to_end_delay_ms = 0;
  // The encoder's quantizer; -1: unknown.
  double qp = -1;

  std::array<double, 5> values() const {
    return {frames_rendered, frozen_share, video_bitrate_bps, end_to_end_delay_ms, qp};
  }
};

// In the order of values().
inline constexpr std::array<std::string_view, 5> kViewedFields{"frames_rendered", "frozen_share", "video_bitrate_bps",
                                                               "end_to_end_delay_ms", "qp"};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_FLOWS_VIEWED_STEP_H_
