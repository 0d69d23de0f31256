#include "virtual_call/vp8_model.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace weir::sim {
namespace {

constexpr int kFinest = 2;
constexpr int kCoarsest = 106;

// libwebrtc's buffer levels in seconds of the target rate, and how far the buffer can raise a frame's target.
constexpr double kStartBufferS = 0.5;
constexpr double kOptimalBufferS = 0.6;
constexpr double kMaxBufferS = 1.0;
constexpr double kMaxRaise = 0.15 / 2;
// The share of the optimal level below which every second frame is dropped.
constexpr double kNearlyEmptyShare = 0.2;
// The target of the first key frame, in seconds of the target rate.
constexpr double kFirstKeyFrameS = kStartBufferS / 2;
constexpr double kMaxKeyFrame = 9;
constexpr double kAdaptation = 0.25;
constexpr int64_t kUnlimitedFrames = 150;
constexpr int kGoldenInterval = 40;
constexpr double kKeyFrameFinestShare = 0.19;
constexpr double kFinestShare = 0.76;

// Fitted to libvpx on the source video of calls at 320x180, 640x360 and 1280x720, by encoder_comparison.py.
struct Point {
  double quantizer;
  double log_bytes;
};
// Sizes of a 640x360 picture: of a frame between two of the same quantizer, and of a key frame.
constexpr double kFittedPixels = 640.0 * 360;
constexpr Point kDeltaBytes[] = {{2, 10.65}, {8, 10.23}, {13, 9.68}, {16, 9.24}, {19, 8.89}, {24, 8.53}, {30, 8.11},
                                 {39, 7.68}, {54, 7.16}, {69, 6.74}, {80, 6.56}, {92, 6.43}, {106, 6.21}};
constexpr Point kKeyBytes[] = {{2, 11.10}, {10, 10.37}, {16, 9.80}, {23, 9.37}, {30, 9.15},
                               {44, 8.83}, {51, 8.60},  {70, 8.19}, {106, 7.57}};
constexpr double kDeltaSizeExponent = 0.72;
constexpr double kKeySizeExponent = 0.66;
// Bytes per macroblock that the encoder expects initially.
constexpr Point kExpectedKeyBytes[] = {{2, 5.2},   {4, 4.93},   {10, 4.46},  {16, 4.13},
                                       {30, 3.73}, {44, 3.325}, {70, 2.856}, {106, 2.33}};
constexpr Point kExpectedDeltaBytes[] = {{2, 4.85}, {8, 4.16}, {16, 3.65}, {26, 3.24}, {106, 1.28}};
// A reference picture that is finer than the frame saves bits, a coarser one costs some, by its distance in quantizers.
constexpr double kFinerReference = 0.013;
constexpr double kCoarserReference = 0.021;
constexpr double kReferenceDecay = 0.25;
// The picture changes more if frames were dropped before it.
constexpr double kSkippedExponent = 0.45;
// Standard deviation of the logarithm of sizes, from frame to frame and, equally large, over several frames. It grows
// with the quantizer: a coarser one keeps less of the constant part of the picture.
constexpr double kDeviation = 0.01;
constexpr double kDeviationSlope = 0.0008;
constexpr double kSlowCorrelation = 0.7;

double At(std::span<const Point> points, double quantizer) {
  const auto above = std::ranges::find_if(points, [&](const Point& one) { return one.quantizer >= quantizer; });
  if (above == points.begin()) return points.front().log_bytes;
  if (above == points.end()) return points.back().log_bytes;
  const Point& low = *(above - 1);
  const double share = (quantizer - low.quantizer) / (above->quantizer - low.quantizer);
  return low.log_bytes + share * (above->log_bytes - low.log_bytes);
}

// Returns the finest quantizer within the limits whose `expected_bits` are at most `target_bits`, or else the coarsest.
template <class Function>
int Choose(double finest, double coarsest, double target_bits, const Function& expected_bits) {
  int low = std::clamp(static_cast<int>(std::lround(finest)), kFinest, kCoarsest);
  int high = std::clamp(static_cast<int>(std::lround(coarsest)), low, kCoarsest);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (expected_bits(middle) > target_bits) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

Vp8Model::Vp8Model(int width, int height, RandomStream random)
    : random_(random),
      macroblocks_(std::ceil(width / 16.0) * std::ceil(height / 16.0)),
      delta_scale_(std::pow(static_cast<double>(width) * height / kFittedPixels, kDeltaSizeExponent)),
      key_scale_(std::pow(static_cast<double>(width) * height / kFittedPixels, kKeySizeExponent)),
      long_average_quantizer_(kCoarsest),
      recent_average_quantizer_(kCoarsest) {}

void Vp8Model::SetRate(double rate_bps, double frames_per_second) {
  frames_per_second_ = frames_per_second;
  bits_per_frame_ = rate_bps / frames_per_second;
  optimal_buffer_bits_ = kOptimalBufferS * rate_bps;
  max_buffer_bits_ = kMaxBufferS * rate_bps;
  buffer_bits_ = std::min(buffer_bits_.value_or(kStartBufferS * rate_bps), max_buffer_bits_);
}

double Vp8Model::KeyFrameTargetBits() const {
  if (frames_ == 0) return kFirstKeyFrameS * bits_per_frame_ * frames_per_second_;
  // A finer picture gains less from a large key frame, and so does one soon after another key frame.
  const double boost = std::max(2.0, 2 * frames_per_second_ / 16 - 1) * (1.1 + 0.0107 * recent_average_quantizer_);
  const double distance = std::min(1.0, static_cast<double>(since_key_frame_) / (frames_per_second_ / 2));
  return bits_per_frame_ * std::min(1 + std::max(boost * distance, 1.0), kMaxKeyFrame);
}

double Vp8Model::FrameTargetBits() const {
  const double fill = (*buffer_bits_ - optimal_buffer_bits_) / optimal_buffer_bits_;
  return bits_per_frame_ * (1 + std::clamp(fill / 2, -0.5, kMaxRaise));
}

Vp8Model::Limits Vp8Model::FrameLimits(bool golden) const {
  if (delta_frames_ <= kUnlimitedFrames) return {kFinest, kCoarsest};
  const double quarter = optimal_buffer_bits_ / 4;
  const double fill = std::clamp((*buffer_bits_ - quarter) / (optimal_buffer_bits_ - quarter), 0.0, 1.0);
  const double coarsest = kCoarsest + fill * (long_average_quantizer_ - kCoarsest);
  const double above = (*buffer_bits_ - optimal_buffer_bits_) / (max_buffer_bits_ - optimal_buffer_bits_);
  const double finest = golden ? std::min(recent_average_quantizer_, coarsest) / 2 - 4 : kFinestShare * coarsest;
  return {kFinest + (finest - kFinest) * (1 - std::clamp(above, 0.0, 1.0)), coarsest};
}

double Vp8Model::Complexity(int quantizer) {
  slow_complexity_ =
      kSlowCorrelation * slow_complexity_ + std::sqrt(1 - kSlowCorrelation * kSlowCorrelation) * random_.Gaussian();
  return std::exp((kDeviation + kDeviationSlope * quantizer) * (slow_complexity_ + random_.Gaussian()));
}

int64_t Vp8Model::Spend(double bits, double expected_bits, double* factor) {
  const double bytes = std::max(std::round(bits / 8), 1.0);
  *factor *= 1 + kAdaptation * (8 * bytes / expected_bits - 1);
  *buffer_bits_ = std::min(*buffer_bits_ + bits_per_frame_ - 8 * bytes, max_buffer_bits_);
  ++frames_;
  return static_cast<int64_t>(bytes);
}

std::optional<Vp8Model::Frame> Vp8Model::Encode(bool key_frame) {
  if (key_frame || frames_ == 0) {
    const double finest = delta_frames_ > kUnlimitedFrames ? kKeyFrameFinestShare * kCoarsest : kFinest;
    const auto expected = [&](int one) {
      return 8 * macroblocks_ * key_factor_ * std::exp(At(kExpectedKeyBytes, one));
    };
    const int quantizer = Choose(finest, kCoarsest, KeyFrameTargetBits(), expected);
    const double bits = 8 * key_scale_ * std::exp(At(kKeyBytes, quantizer)) * Complexity(kFinest);
    since_key_frame_ = 0;
    reference_quantizer_ = quantizer;
    return Frame{.bytes = Spend(bits, expected(quantizer), &key_factor_), .qp = quantizer, .key_frame = true};
  }
  const bool nearly_empty = *buffer_bits_ < kNearlyEmptyShare * optimal_buffer_bits_;
  if (*buffer_bits_ < 0 || (nearly_empty && skipped_ == 0)) {
    *buffer_bits_ += bits_per_frame_;
    ++skipped_;
    return std::nullopt;
  }
  const bool golden = ++since_key_frame_ % kGoldenInterval == 0;
  double* const factor = golden ? &golden_factor_ : &delta_factor_;
  const Limits limits = FrameLimits(golden);
  const auto expected = [&](int one) { return 8 * macroblocks_ * *factor * std::exp(At(kExpectedDeltaBytes, one)); };
  const int quantizer = Choose(limits.finest, limits.coarsest, FrameTargetBits(), expected);
  const double coarser_by = reference_quantizer_ - quantizer;
  const double of_reference = (coarser_by > 0 ? kCoarserReference : kFinerReference) * coarser_by;
  const double motion = kSkippedExponent * std::log(1 + static_cast<double>(std::exchange(skipped_, 0)));
  const double bits =
      8 * delta_scale_ * std::exp(At(kDeltaBytes, quantizer) + of_reference + motion) * Complexity(quantizer);
  reference_quantizer_ -= (coarser_by > 0 ? 1 : kReferenceDecay) * coarser_by;
  recent_average_quantizer_ += (quantizer - recent_average_quantizer_) / 4;
  if (!golden) {
    ++delta_frames_;
    quantizer_sum_ += quantizer;
    long_average_quantizer_ = quantizer_sum_ / static_cast<double>(delta_frames_);
    if (delta_frames_ <= kUnlimitedFrames) long_average_quantizer_ = (long_average_quantizer_ + kCoarsest) / 2;
    long_average_quantizer_ = std::max(long_average_quantizer_, quantizer - 1.0);
  }
  return Frame{.bytes = Spend(bits, expected(quantizer), factor), .qp = quantizer, .key_frame = false};
}

}  // namespace weir::sim
