// The video of an RTP flow as a viewer saw it in one step of an environment.
#ifndef WEIR_SIMULATOR_FLOWS_VIEWED_STEP_H_
#define WEIR_SIMULATOR_FLOWS_VIEWED_STEP_H_

#include <array>
#include <string_view>

namespace weir::sim {

struct ViewedStep {
  double frames_rendered = 0;
  // Time with a frozen picture or none, as a fraction of the step. A freeze counts from its beginning, in the step in
  // which it is recognized: the value is above 1 if it began in an earlier step.
  double frozen_share = 0;
  // The encoder's bitrate of the video on the screen; 0 without a picture.
  double video_bitrate_bps = 0;
  // Mean of the rendered frames, from capture to rendering; held while nothing is rendered.
  double end_to_end_delay_ms = 0;
  // The encoder's quantizer; -1 if unknown.
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
