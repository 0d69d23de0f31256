#include "repair/nack.h"

#include <algorithm>

namespace weir::sim {
namespace {

// libwebrtc's values.
constexpr int kMaxRequests = 10;
constexpr int64_t kMaxMissing = 1000;
constexpr int64_t kMaxPacketAge = 10'000;
constexpr SimDuration kUpdateInterval = SimDuration::Millis(20);

// The first multiple of `interval` that is not before `time`.
SimTime RoundedUp(SimTime time, SimDuration interval) {
  const int64_t interval_ns = interval.ns();
  return kTimeZero + (time.ns() + interval_ns - 1) / interval_ns * interval;
}

}  // namespace

bool NackRequester::OnOtherPacket(int64_t sequence_number) {
  if (newest_ < 0) newest_ = sequence_number;
  if (sequence_number <= newest_) {
    missing_.erase(sequence_number);
    return true;
  }
  const int64_t first_missing = newest_ + 1;
  newest_ = sequence_number;
  ClearUpTo(sequence_number - kMaxPacketAge);
  if (static_cast<int64_t>(missing_.size()) + sequence_number - first_missing > kMaxMissing) {
    missing_.clear();
    return false;
  }
  for (int64_t i = first_missing; i < sequence_number; ++i) missing_.emplace_hint(missing_.end(), i, Missing());
  return true;
}

SimTime NackRequester::next_timeout() const {
  SimTime oldest = kNever;
  for (const auto& [number, missing] : missing_) oldest = std::min(oldest, missing.request_time);
  if (oldest == kNever) return kNever;
  // libwebrtc checks its list every 20 ms.
  return RoundedUp(oldest + round_trip_time_, kUpdateInterval);
}

std::vector<int64_t> NackRequester::TakeRequests(SimTime now) {
  std::vector<int64_t> requests;
  for (auto next = missing_.begin(); next != missing_.end();) {
    const auto entry = next++;
    Missing& missing = entry->second;
    if (missing.request_time != kNever && now - missing.request_time < round_trip_time_) continue;
    requests.push_back(entry->first);
    missing.request_time = now;
    if (++missing.requests >= kMaxRequests) missing_.erase(entry);
  }
  return requests;
}

namespace {

// A retransmission's payload begins with the original's sequence number (RFC 4588 section 4).
constexpr uint32_t kRtxHeaderBytes = 2;

// libwebrtc's values: how many packets are kept at most, how many before they are removed, and how long.
constexpr size_t kMaxCapacity = 9600;
constexpr size_t kPacketsToStore = 600;
constexpr SimDuration kMinPacketDuration = SimDuration::Seconds(1);
constexpr int64_t kMinPacketDurationRoundTrips = 3;
constexpr int64_t kCullingDelayFactor = 3;
// libwebrtc adds this margin to the measured round trip.
constexpr SimDuration kRoundTripMargin = SimDuration::Millis(5);

}  // namespace

void RtpPacketHistory::SetRoundTripTime(SimDuration round_trip_time) {
  round_trip_time_ = round_trip_time + kRoundTripMargin;
}

void RtpPacketHistory::OnSent(const Packet& packet, SimTime now) {
  if (packet.rtp.kind == PacketKind::kRetransmission) {
    if (Stored* stored = Find(packet.media_sequence_number)) {
      stored->sent_time = now;
      stored->sent_again = true;
      stored->waits = false;
    }
    return;
  }
  Cull(now);
  stored_.push_back({.capture_time = packet.capture_time,
                     .sent_time = now,
                     .payload_bytes = packet.rtp.payload_size,
                     .frame_part = packet.frame_part});
}

std::optional<MediaPacket> RtpPacketHistory::TakeForRetransmission(int64_t sequence_number, SimTime now) {
  Stored* stored = Find(sequence_number);
  if (!stored || stored->waits) return std::nullopt;
  if (stored->sent_again && now - stored->sent_time < round_trip_time_) return std::nullopt;
  stored->waits = true;
  return MediaPacket{.kind = PacketKind::kRetransmission,
                     .payload_bytes = kRtxHeaderBytes + stored->payload_bytes,
                     .capture_time = stored->capture_time,
                     .frame_part = stored->frame_part,
                     .repaired_sequence_number = sequence_number};
}

RtpPacketHistory::Stored* RtpPacketHistory::Find(int64_t sequence_number) {
  const int64_t index = sequence_number - first_sequence_number_;
  if (index < 0 || index >= static_cast<int64_t>(stored_.size())) return nullptr;
  return &stored_[static_cast<size_t>(index)];
}

void RtpPacketHistory::Cull(SimTime now) {
  const SimDuration duration = std::max(kMinPacketDuration, kMinPacketDurationRoundTrips * round_trip_time_);
  while (!stored_.empty()) {
    const Stored& oldest = stored_.front();
    const SimDuration age = now - oldest.sent_time;
    const bool too_many = stored_.size() >= kPacketsToStore && age >= duration;
    const bool too_old = age >= kCullingDelayFactor * duration;
    if (stored_.size() < kMaxCapacity && (oldest.waits || !(too_many || too_old))) break;
    stored_.pop_front();
    ++first_sequence_number_;
  }
}

}  // namespace weir::sim
