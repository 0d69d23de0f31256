#include "media/arrival_line.h"

#include <algorithm>
#include <cmath>

namespace weir::sim {
namespace {

constexpr SimDuration kLongestGap = SimDuration::Seconds(10);
constexpr double kAnyOffset = 1e10;
constexpr int kFirstFrames = 2;
constexpr int kFramesBeforeOutliers = 300;
constexpr double kOutlierDeviations = 2;
constexpr int kMostOutliers = 150;
constexpr double kResidualSmoothing = 0.999;
constexpr double kLowestVarianceMs2 = 1.0 / 90 / 90;
// In 90 kHz: 7,000, 6,600 and 60,000.
constexpr double kMostResidualMs = 77.8;
constexpr double kUsualResidualMs = 73.3;
constexpr double kChangeMs = 666.7;

}  // namespace

void ArrivalLine::OnFrame(SimTime capture_time, SimTime arrival_time) {
  if (frames_ > 0 && (arrival_time - last_arrival_ > kLongestGap || capture_time - last_capture_ > kLongestGap))
    *this = ArrivalLine();
  if (frames_ == 0) {
    first_capture_ = last_capture_ = capture_time;
    first_arrival_ = arrival_time;
  }
  last_arrival_ = arrival_time;
  const double arrival_ms = ArrivalMs(arrival_time);
  const double residual_ms = CaptureMs(capture_time) - rate_ * arrival_ms - offset_ms_;
  if (IsOutlier(residual_ms)) {
    if (++outliers_ <= kMostOutliers) return;
    offset_variance_ = kAnyOffset;
  }
  outliers_ = 0;
  if (DelayHasChanged(residual_ms) && frames_ >= kFirstFrames) offset_variance_ = kAnyOffset;
  last_capture_ = capture_time;
  ++frames_;
  double rate_gain = rate_variance_ * arrival_ms + covariance_;
  double offset_gain = covariance_ * arrival_ms + offset_variance_;
  const double variance = 1 + arrival_ms * rate_gain + offset_gain;
  rate_ += rate_gain / variance * residual_ms;
  offset_ms_ += offset_gain / variance * residual_ms;
  rate_variance_ -= rate_gain * rate_gain / variance;
  covariance_ -= rate_gain * offset_gain / variance;
  offset_variance_ -= offset_gain * offset_gain / variance;
}

SimTime ArrivalLine::UsualArrival(SimTime capture_time) const {
  if (frames_ < kFirstFrames || rate_ < 1e-5) return last_arrival_ + (capture_time - last_capture_);
  const double arrival_ms = (CaptureMs(capture_time) - offset_ms_) / rate_;
  return first_arrival_ + SimDuration::Micros(std::llround(1e3 * arrival_ms));
}

bool ArrivalLine::IsOutlier(double residual_ms) {
  if (frames_ >= kFramesBeforeOutliers &&
      std::abs(residual_ms - mean_residual_ms_) > kOutlierDeviations * std::sqrt(residual_ms2_))
    return true;
  mean_residual_ms_ += (1 - kResidualSmoothing) * (residual_ms - mean_residual_ms_);
  const double deviation_ms = residual_ms - mean_residual_ms_;
  residual_ms2_ += (1 - kResidualSmoothing) * (deviation_ms * deviation_ms - residual_ms2_);
  residual_ms2_ = std::max(residual_ms2_, kLowestVarianceMs2);
  return false;
}

bool ArrivalLine::DelayHasChanged(double residual_ms) {
  residual_ms = std::clamp(residual_ms, -kMostResidualMs, kMostResidualMs);
  early_ms_ = std::max(early_ms_ + residual_ms - kUsualResidualMs, 0.0);
  late_ms_ = std::max(late_ms_ - residual_ms - kUsualResidualMs, 0.0);
  if (early_ms_ <= kChangeMs && late_ms_ <= kChangeMs) return false;
  early_ms_ = late_ms_ = 0;
  return true;
}

}  // namespace weir::sim
