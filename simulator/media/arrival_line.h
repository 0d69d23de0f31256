// Which time of arrival is usual for a frame of a capture time.
#ifndef WEIR_SIMULATOR_MEDIA_ARRIVAL_LINE_H_
#define WEIR_SIMULATOR_MEDIA_ARRIVAL_LINE_H_

#include <optional>

#include "core/sim_time.h"

namespace weir::sim {

// A line through the capture and arrival times of frames by recursive least squares, as libwebrtc's
// TimestampExtrapolator has it: its offset is determined anew after a lasting change of delay. Outliers do not count.
class ArrivalLine {
 public:
  // Call for frames in the order of arrival.
  void OnFrame(SimTime capture_time, SimTime arrival_time);
  // True before the first OnFrame().
  bool is_empty() const { return frames_ == 0; }
  // Call after the first OnFrame().
  SimTime UsualArrival(SimTime capture_time) const;

 private:
  bool IsOutlier(double residual_ms);
  bool DelayHasChanged(double residual_ms);
  // Arrival and capture in ms since those of the first frame.
  double ArrivalMs(SimTime time) const { return ToMilliseconds(time - first_arrival_); }
  double CaptureMs(SimTime time) const { return ToMilliseconds(time - first_capture_); }

  int frames_ = 0;
  SimTime first_capture_ = kTimeZero;
  SimTime first_arrival_ = kTimeZero;
  SimTime last_capture_ = kTimeZero;
  SimTime last_arrival_ = kTimeZero;
  // capture = rate_ * arrival + offset_ms_, with the covariance of both.
  double rate_ = 1;
  double offset_ms_ = 0;
  double rate_variance_ = 1;
  double covariance_ = 0;
  double offset_variance_ = 1e10;
  double mean_residual_ms_ = 0;
  double residual_ms2_ = 1e3 * 1e3 / 900;
  int outliers_ = 0;
  // Sums of residuals (CUSUM).
  double early_ms_ = 0;
  double late_ms_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_SIMULATOR_MEDIA_ARRIVAL_LINE_H_
