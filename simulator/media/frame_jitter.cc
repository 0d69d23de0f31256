#include "media/frame_jitter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::sim {
namespace {

constexpr double kSizeSmoothing = 0.97;
constexpr double kMaxSizeDecay = 0.9999;
// Standard deviations.
constexpr double kMostDelayVariation = 3.5;
constexpr double kDelayOutlier = 15;
constexpr double kSizeOutlier = 3;
constexpr double kNoise = 2.33;
constexpr double kNoiseOffsetMs = 30;
// A frame that is smaller than its predecessor by more than this share of the largest one has waited for it.
constexpr double kCongestedShare = 0.25;
constexpr double kSlopeProcessNoise = 2.5e-10;
constexpr double kLowestSlope = 1e-6;
constexpr int kNoiseFrames = 400;
constexpr int kFrameRateFrames = 30;
constexpr double kUsualFrameRate = 30;
constexpr double kHostJitterMs = 10;
// Estimates are scaled between these frame rates.
constexpr double kLowFrameRate = 5;
constexpr double kFullFrameRate = 10;
constexpr double kMostJitterMs = 10'000;

}  // namespace

void FrameJitter::OnFrame(double delay_variation_ms, double bytes, SimTime now) {
  UpdateSizes(bytes);
  const double size_variation = bytes - std::exchange(previous_bytes_, bytes);
  if (++frames_ == 1) return;
  const double sigma_ms = std::sqrt(noise_ms2_);
  const double most_ms = kMostDelayVariation * sigma_ms + 0.5;
  const double residual_ms = std::clamp(delay_variation_ms, -most_ms, most_ms) - slope_ms_per_byte_ * size_variation;
  const double outlier_ms = kDelayOutlier * sigma_ms;
  const bool large = bytes > mean_bytes_ + kSizeOutlier * std::sqrt(variance_bytes2_);
  if (std::abs(residual_ms) >= outlier_ms && !large) {
    UpdateNoise(std::copysign(outlier_ms, residual_ms), now);
    return;
  }
  UpdateNoise(residual_ms, now);
  if (size_variation > -kCongestedShare * max_bytes_) UpdateSlope(residual_ms, size_variation);
}

void FrameJitter::UpdateSizes(double bytes) {
  const double mean = kSizeSmoothing * mean_bytes_ + (1 - kSizeSmoothing) * bytes;
  // Key frames do not count.
  if (bytes < mean_bytes_ + 2 * std::sqrt(variance_bytes2_)) mean_bytes_ = mean;
  const double deviation = bytes - mean;
  variance_bytes2_ = std::max(kSizeSmoothing * variance_bytes2_ + (1 - kSizeSmoothing) * deviation * deviation, 1.0);
  max_bytes_ = std::max(kMaxSizeDecay * max_bytes_, bytes);
}

void FrameJitter::UpdateNoise(double residual_ms, SimTime now) {
  if (last_frame_ != kNever) {
    const double interval_ms = ToMilliseconds(now - last_frame_);
    const double weight = 1.0 / std::min(frames_ - 2, kFrameRateFrames);
    mean_interval_ms_ += weight * (interval_ms - mean_interval_ms_);
  }
  last_frame_ = now;
  const double frames = std::min(frames_ - 1, kNoiseFrames - 1);
  double memory = (frames - 1) / frames;
  // The time constant does not depend on the frame rate.
  if (FrameRate() > 0) memory = std::pow(memory, kUsualFrameRate / FrameRate());
  const double deviation_ms = residual_ms - mean_noise_ms_;
  mean_noise_ms_ += (1 - memory) * deviation_ms;
  noise_ms2_ = std::max(memory * noise_ms2_ + (1 - memory) * deviation_ms * deviation_ms, 1.0);
}

void FrameJitter::UpdateSlope(double residual_ms, double size_variation) {
  slope_variance_ += kSlopeProcessNoise;
  const double measurement_noise =
      std::max((300 * std::exp(-std::abs(size_variation) / max_bytes_) + 1) * std::sqrt(noise_ms2_), 1.0);
  const double covariance = slope_variance_ * size_variation;
  const double gain = covariance / (size_variation * covariance + measurement_noise);
  slope_ms_per_byte_ = std::max(slope_ms_per_byte_ + gain * residual_ms, kLowestSlope);
  slope_variance_ *= 1 - gain * size_variation;
}

SimDuration FrameJitter::Estimate() const {
  double jitter_ms = slope_ms_per_byte_ * (max_bytes_ - mean_bytes_) +
                     std::max(kNoise * std::sqrt(noise_ms2_) - kNoiseOffsetMs, 1.0) + kHostJitterMs;
  if (FrameRate() > 0)
    jitter_ms *= std::clamp((FrameRate() - kLowFrameRate) / (kFullFrameRate - kLowFrameRate), 0.0, 1.0);
  return SimDuration::Micros(std::llround(1e3 * std::clamp(jitter_ms, 0.0, kMostJitterMs)));
}

}  // namespace weir::sim
