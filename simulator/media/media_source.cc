#include "media/media_source.h"

#include <algorithm>

#include "core/event.h"

namespace weir::sim {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr int64_t kMinPacketsPerSecond = 30;
constexpr int64_t kFrameNs = kNsPerSecond / 30;
constexpr int64_t kMinPayloadBytes = 50;

}  // namespace

FillerSource::FillerSource(uint32_t overhead_bytes, DataRate max_rate)
    : overhead_bytes_(overhead_bytes), max_rate_bps_(max_rate.bps()), next_packet_ns_(kNeverNs), missing_bits_(0) {}

void FillerSource::SetTargetRate(DataRate target_rate, int64_t now_ns) {
  const int64_t rate_bps = std::clamp<int64_t>(target_rate.bps(), 0, max_rate_bps_);
  if (rate_bps == rate_bps_) return;
  if (next_packet_ns_ != kNeverNs) {
    const int64_t wait_ns = std::max<int64_t>(0, next_packet_ns_ - now_ns);
    missing_bits_ = static_cast<int64_t>(static_cast<__int128>(wait_ns) * rate_bps_ / kNsPerSecond);
  }
  rate_bps_ = rate_bps;
  payload_bytes_ =
      std::clamp(rate_bps / 8 / kMinPacketsPerSecond - overhead_bytes_, kMinPayloadBytes, int64_t{kMaxPayloadBytes});
  if (rate_bps > 0) interval_ns_ = TransmissionNs(payload_bytes_ + overhead_bytes_, rate_bps);
  if (active_) next_packet_ns_ = rate_bps_ > 0 ? now_ns + BitsOver(missing_bits_, rate_bps_) : kNeverNs;
}

void FillerSource::SetActive(bool active, int64_t now_ns) {
  active_ = active;
  missing_bits_ = 0;
  next_packet_ns_ = active && rate_bps_ > 0 ? now_ns : kNeverNs;
}

MediaPacket FillerSource::TakePacket(int64_t now_ns) {
  if (now_ns >= frame_end_ns_) {
    frame_capture_time_ns_ = now_ns;
    frame_end_ns_ = (now_ns / kFrameNs + 1) * kFrameNs;
  }
  // The time that a packet waited for the pacer is not made up for: the target was not the limit then.
  next_packet_ns_ = std::max(next_packet_ns_, now_ns) + interval_ns_;
  return {.kind = PacketKind::kVideo,
          .payload_bytes = static_cast<uint32_t>(payload_bytes_),
          .capture_time_ns = frame_capture_time_ns_};
}

}  // namespace weir::sim
