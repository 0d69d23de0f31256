#include "media/video_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::sim {
namespace {

// RFC 8593 table 1: tau_v, K_d. K_B is given there for 1 Mbps at 30 frames/s as 13.5 kB, 3.24 average frames. SCALE_B
// is 0.15 there; frames of Chromium 156 in calls vary less.
constexpr SimDuration kReaction = SimDuration::Millis(200);
constexpr int kBurstFrames = 8;
constexpr double kBurstFrameSize = 13.5 / (1000.0 / 8 / 30);
constexpr double kFrameSizeScale = 0.1;

// Weir's own: the change of rate that is abrupt, the largest deviation of sizes, and an encoder's lowest rate.
constexpr double kAbruptChange = 0.2;
constexpr double kMaxDeviation = 0.75;
// A camera's frames deviate from equal intervals by a fraction of an interval each. In RFC 8593 the intervals vary
// independently, by 7 ms at 30 per second, so that frame times drift; in calls from Chromium 156 the standard deviation
// of frame times was 0.5 ms, and encoding adds as much.
constexpr double kFrameTimeScale = 0.02;
constexpr double kMaxFrameTimeDeviation = 0.25;
constexpr double kMinEncoderRateBps = 30'000;
// Size of a frame at the coarsest quantizer; an encoder drops frames rather than make them smaller. Chromium at 360
// lines has 8, 16, 18, 21, 25 and 28 frames/s at 30, 55, 85, 125, 175 and 250 kbps, with 0.7 to 1.6 kB per frame.
constexpr double kLeastFrameBytes = 500;
constexpr double kOutputShareMeanS = 1.0;
constexpr int64_t kMaxStallFrames = 6;
// Beyond any scenario, within 64 bits.
constexpr double kMostFramesBetweenStalls = 1e15;

// Opus with a variable bit rate.
constexpr double kAudioSizeDeviation = 0.15;

constexpr SimTime kLongAgo = kTimeZero - kReaction;

}  // namespace

VideoSource::VideoSource(MediaSpec media, DataRate max_rate, uint32_t overhead_bytes, RandomStream random)
    : media_(std::move(media)),
      max_rate_(max_rate),
      overhead_bytes_(overhead_bytes),
      random_(random),
      output_shares_(random_.Next(), 0),
      stalls_(random_.Next(), 0),
      last_rate_change_(kLongAgo),
      next_frame_time_(kNever),
      audio_interval_(SimDuration::Nanos(std::llround(1e9 / media_.audio_packets_per_second))),
      next_audio_time_(kNever) {}

void VideoSource::SetTargetRate(DataRate target_rate, SimTime) {
  const double audio_bps = media_.audio_rate.bps() == 0 ? 0
                                                        : static_cast<double>(media_.audio_rate.bps()) +
                                                              overhead_bytes_ * 8.0 * media_.audio_packets_per_second;
  const double payload_share = kMaxPayloadBytes / static_cast<double>(kMaxPayloadBytes + overhead_bytes_);
  const double video_bps =
      std::min(static_cast<double>(target_rate.bps()) - audio_bps, static_cast<double>(max_rate_.bps()));
  requested_rate_bps_ = std::max(video_bps * payload_share, kMinEncoderRateBps);
  if (encoder_rate_bps_ > 0) return;
  const double initial_bps = static_cast<double>(std::min(media_.initial_rate, max_rate_).bps());
  encoder_rate_bps_ = initial_bps > 0 ? initial_bps * payload_share : requested_rate_bps_;
}

void VideoSource::SetActive(bool active, SimTime now) {
  active_ = active;
  frame_packets_left_ = 0;
  next_frame_time_ = active ? now : kNever;
  camera_ns_ = static_cast<double>(now.ns());
  next_audio_time_ = active && media_.audio_rate.bps() > 0 ? now : kNever;
  next_key_frame_time_ = now;
  burst_frames_left_ = 0;
  last_rate_change_ = now - kReaction;
  if (active) SkipPauses();
}

void VideoSource::HoldFrames(bool hold, SimTime now) {
  if (hold == held_) return;
  held_ = hold;
  if (hold || next_frame_time_ >= now) return;
  const double interval_ns = 1e9 / media_.frames_per_second;
  camera_ns_ += std::ceil((static_cast<double>(now.ns()) - camera_ns_) / interval_ns) * interval_ns;
  next_frame_time_ = std::max(now, SimTime::Nanos(static_cast<int64_t>(camera_ns_)));
  SkipPauses();
}

void VideoSource::RequestKeyFrame(SimTime now) { next_key_frame_time_ = std::min(next_key_frame_time_, now); }

SimTime VideoSource::next_packet_time() const {
  const SimTime next_frame = held_ ? kNever : next_frame_time_;
  return std::min(frame_packets_left_ > 0 ? frame_time_ : next_frame, next_audio_time_);
}

MediaPacket VideoSource::TakePacket(SimTime now) {
  if (next_audio_time_ <= next_packet_time()) return TakeAudioPacket(now);
  if (frame_packets_left_ == 0) EncodeFrame(next_frame_time_);
  const uint32_t payload_bytes = (frame_bytes_left_ + frame_packets_left_ - 1) / frame_packets_left_;
  frame_bytes_left_ -= payload_bytes;
  --frame_packets_left_;
  const bool first = std::exchange(frame_begins_, false);
  return {.kind = PacketKind::kVideo,
          .payload_bytes = payload_bytes,
          .capture_time = frame_time_,
          .frame_part = {.key_frame = frame_is_key_, .first = first, .last = frame_packets_left_ == 0}};
}

void VideoSource::EncodeFrame(SimTime now) {
  const double average_bytes = OutputShare(now) * encoder_rate_bps_ / 8.0 / media_.frames_per_second;
  const int64_t frames = std::max<int64_t>(1, std::llround(kLeastFrameBytes / average_bytes));
  const double size = static_cast<double>(frames) * average_bytes * NextRelativeFrameSize(now);
  frame_bytes_left_ = static_cast<uint32_t>(std::clamp(size, 50.0, 4e6));
  frame_packets_left_ = (frame_bytes_left_ + kMaxPayloadBytes - 1) / kMaxPayloadBytes;
  frame_time_ = now;
  frame_begins_ = true;
  const double interval_ns = 1e9 / media_.frames_per_second;
  camera_ns_ += static_cast<double>(frames - 1 + FramesUntilNext()) * interval_ns;
  next_frame_time_ =
      SimTime::Nanos(static_cast<int64_t>(camera_ns_ + Laplace(kFrameTimeScale, kMaxFrameTimeDeviation) * interval_ns));
  SkipPauses();
}

void VideoSource::SkipPauses() {
  const auto& pauses = media_.video_pauses;
  while (next_pause_ < pauses.size() && pauses[next_pause_].first <= next_frame_time_) {
    const SimTime resume = pauses[next_pause_++].second;
    if (resume <= next_frame_time_) continue;
    next_frame_time_ = next_key_frame_time_ = resume;
    camera_ns_ = static_cast<double>(resume.ns());
  }
}

double VideoSource::OutputShare(SimTime now) {
  while (media_.minimum_output_share < 1 && now >= next_output_share_time_) {
    output_share_ = output_shares_.Uniform(media_.minimum_output_share, 1.0);
    next_output_share_time_ += SimDuration::SecondsF(output_shares_.Exponential(kOutputShareMeanS));
  }
  return output_share_;
}

int64_t VideoSource::FramesUntilNext() {
  if (frame_drop_interval_ > 0 && ++captured_frames_ % frame_drop_interval_ == 0) {
    ++captured_frames_;
    return 2;
  }
  if (media_.stall_probability == 0) return 1;
  const int64_t frame = std::llround(camera_ns_ * media_.frames_per_second * 1e-9);
  while (stall_end_frame_ <= frame) {
    const double frames = std::min(stalls_.Exponential(1 / media_.stall_probability), kMostFramesBetweenStalls);
    stall_begin_frame_ = stall_end_frame_ + static_cast<int64_t>(frames);
    stall_end_frame_ = stall_begin_frame_ + 1 + stalls_.UniformInteger(1, kMaxStallFrames);
  }
  return frame < stall_begin_frame_ ? 1 : stall_end_frame_ - frame;
}

double VideoSource::NextRelativeFrameSize(SimTime now) {
  frame_is_key_ = now >= next_key_frame_time_;
  if (FollowTarget(now) || frame_is_key_) {
    next_key_frame_time_ = now + media_.key_frame_interval;
    burst_frames_left_ = kBurstFrames - 1;
    return kBurstFrameSize;
  }
  const double deviation = Laplace(kFrameSizeScale, kMaxDeviation);
  if (burst_frames_left_ == 0) return 1.0 + deviation;
  --burst_frames_left_;
  return (kBurstFrames - kBurstFrameSize) / (kBurstFrames - 1) * (1.0 + deviation);
}

bool VideoSource::FollowTarget(SimTime now) {
  if (media_.rise_time_constant_s > 0 || media_.fall_time_constant_s > 0) {
    const double distance = std::log(requested_rate_bps_ / encoder_rate_bps_);
    const double time_constant_s = distance > 0 ? media_.rise_time_constant_s : media_.fall_time_constant_s;
    const double elapsed_s = (now - last_rate_change_).seconds();
    const double part = time_constant_s > 0 ? -std::expm1(-elapsed_s / time_constant_s) : 1;
    encoder_rate_bps_ *= std::exp(distance * part);
    last_rate_change_ = now;
    return false;
  }
  if (requested_rate_bps_ == encoder_rate_bps_ || now - last_rate_change_ < kReaction) return false;
  const bool abrupt = std::abs(requested_rate_bps_ / encoder_rate_bps_ - 1.0) > kAbruptChange;
  encoder_rate_bps_ = requested_rate_bps_;
  last_rate_change_ = now;
  return abrupt;
}

MediaPacket VideoSource::TakeAudioPacket(SimTime now) {
  next_audio_time_ += audio_interval_;
  const double mean_bytes = static_cast<double>(media_.audio_rate.bps()) / 8.0 / media_.audio_packets_per_second;
  const double bytes = mean_bytes * random_.Uniform(1.0 - kAudioSizeDeviation, 1.0 + kAudioSizeDeviation);
  return {.kind = PacketKind::kAudio,
          .payload_bytes = static_cast<uint32_t>(std::clamp(bytes, 1.0, static_cast<double>(kMaxPayloadBytes))),
          .capture_time = now};
}

double VideoSource::Laplace(double scale, double limit) {
  const double u = random_.Uniform() - 0.5;
  const double value = -scale * std::copysign(std::log1p(-2.0 * std::abs(u)), u);
  return std::clamp(value, -limit, limit);
}

}  // namespace weir::sim
