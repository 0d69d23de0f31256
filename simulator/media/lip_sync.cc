#include "media/lip_sync.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::sim {
namespace {

constexpr double kMemory = 0.75;
constexpr double kTolerated = 30;
constexpr double kLargestStep = 80;
constexpr double kLargestDistance = 10'000;

}  // namespace

void LipSync::Update(double video_behind_ms) {
  if (std::abs(video_behind_ms) > kLargestDistance) return;
  mean_ms_ = kMemory * mean_ms_ + (1 - kMemory) * video_behind_ms;
  if (std::abs(mean_ms_) < kTolerated) return;
  const double step_ms = std::clamp(std::exchange(mean_ms_, 0) / 2, -kLargestStep, kLargestStep);
  // First takes back what it has added to the other stream.
  if (step_ms > 0 ? video_extra_ms_ > 0 : audio_extra_ms_ <= 0) {
    video_extra_ms_ = std::max(video_extra_ms_ - step_ms, 0.0);
    audio_extra_ms_ = 0;
  } else {
    audio_extra_ms_ += step_ms;
    video_extra_ms_ = 0;
  }
  // A delay that is no longer needed stays until the stream is delayed again.
  if (video_extra_ms_ > 0) video_ms_ = video_extra_ms_;
  if (audio_extra_ms_ > 0) audio_ms_ = audio_extra_ms_;
}

}  // namespace weir::sim
