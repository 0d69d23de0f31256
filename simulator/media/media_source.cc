#include "media/media_source.h"

#include <algorithm>

namespace weir::sim {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kMinPacketsPerSecond = 30;
constexpr SimDuration kFrame = SimDuration::Nanos(kNsPerSecond / 30);
constexpr int64_t kMinPayloadBytes = 50;

}  // namespace

FillerSource::FillerSource(uint32_t overhead_bytes, DataRate max_rate)
    : overhead_bytes_(overhead_bytes), max_rate_bps_(max_rate.bps()), next_packet_time_(kNever), missing_bits_(0) {}

void FillerSource::SetTargetRate(DataRate target_rate, SimTime now) {
  const int64_t rate_bps = std::clamp<int64_t>(target_rate.bps(), 0, max_rate_bps_);
  if (rate_bps == rate_bps_) return;
  if (next_packet_time_ != kNever) {
    const SimDuration wait = NotNegative(next_packet_time_ - now);
    missing_bits_ = static_cast<int64_t>(static_cast<__int128>(wait.ns()) * rate_bps_ / kNsPerSecond);
  }
  rate_bps_ = rate_bps;
  payload_bytes_ =
      std::clamp(rate_bps / 8 / kMinPacketsPerSecond - overhead_bytes_, kMinPayloadBytes, int64_t{kMaxPayloadBytes});
  if (rate_bps > 0) interval_ = TransmissionTime(payload_bytes_ + overhead_bytes_, rate_bps);
  if (active_) next_packet_time_ = rate_bps_ > 0 ? now + DurationOf(missing_bits_, rate_bps_) : kNever;
}

void FillerSource::SetActive(bool active, SimTime now) {
  active_ = active;
  missing_bits_ = 0;
  next_packet_time_ = active && rate_bps_ > 0 ? now : kNever;
}

MediaPacket FillerSource::TakePacket(SimTime now) {
  if (now >= frame_end_) {
    frame_capture_time_ = now;
    frame_end_ = kTimeZero + (now.ns() / kFrame.ns() + 1) * kFrame;
  }
  // The time that a packet waited for the pacer is not made up for: the target was not the limit then.
  next_packet_time_ = std::max(next_packet_time_, now) + interval_;
  return {.kind = PacketKind::kVideo,
          .payload_bytes = static_cast<uint32_t>(payload_bytes_),
          .capture_time = frame_capture_time_};
}

}  // namespace weir::sim
