#include "repair/nack.h"

#include <algorithm>

namespace weir::sim {
namespace {

// libwebrtc's values.
constexpr int kMaxRequests = 10;
constexpr int64_t kMaxMissing = 1000;
constexpr int64_t kMaxPacketAge = 10'000;
constexpr int64_t kUpdateIntervalNs = 20'000'000;

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

int64_t NackRequester::next_timeout_ns() const {
  int64_t oldest_ns = kNeverNs;
  for (const auto& [number, missing] : missing_) oldest_ns = std::min(oldest_ns, missing.requested_ns);
  if (oldest_ns == kNeverNs) return kNeverNs;
  // libwebrtc checks its list every 20 ms.
  return (oldest_ns + round_trip_time_ns_ + kUpdateIntervalNs - 1) / kUpdateIntervalNs * kUpdateIntervalNs;
}

std::vector<int64_t> NackRequester::TakeRequests(int64_t now_ns) {
  std::vector<int64_t> requests;
  for (auto next = missing_.begin(); next != missing_.end();) {
    const auto entry = next++;
    Missing& missing = entry->second;
    if (missing.requested_ns != kNeverNs && now_ns - missing.requested_ns < round_trip_time_ns_) continue;
    requests.push_back(entry->first);
    missing.requested_ns = now_ns;
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
constexpr int64_t kMinPacketDurationNs = 1'000'000'000;
constexpr int64_t kMinPacketDurationRoundTrips = 3;
constexpr int64_t kCullingDelayFactor = 3;
// libwebrtc adds this margin to the measured round trip.
constexpr int64_t kRoundTripMarginNs = 5'000'000;

}  // namespace

void RtpPacketHistory::SetRoundTripTime(int64_t round_trip_time_ns) {
  round_trip_time_ns_ = round_trip_time_ns + kRoundTripMarginNs;
}

void RtpPacketHistory::OnSent(const Packet& packet, int64_t now_ns) {
  if (packet.rtp.kind == PacketKind::kRetransmission) {
    if (Stored* stored = Find(packet.media_sequence_number)) {
      stored->sent_ns = now_ns;
      stored->sent_again = true;
      stored->waits = false;
    }
    return;
  }
  Cull(now_ns);
  stored_.push_back({.capture_time_ns = packet.capture_time_ns,
                     .sent_ns = now_ns,
                     .payload_bytes = packet.rtp.payload_size,
                     .frame_part = packet.frame_part});
}

std::optional<MediaPacket> RtpPacketHistory::TakeForRetransmission(int64_t sequence_number, int64_t now_ns) {
  Stored* stored = Find(sequence_number);
  if (!stored || stored->waits) return std::nullopt;
  if (stored->sent_again && now_ns - stored->sent_ns < round_trip_time_ns_) return std::nullopt;
  stored->waits = true;
  return MediaPacket{.kind = PacketKind::kRetransmission,
                     .payload_bytes = kRtxHeaderBytes + stored->payload_bytes,
                     .capture_time_ns = stored->capture_time_ns,
                     .frame_part = stored->frame_part,
                     .repaired_sequence_number = sequence_number};
}

RtpPacketHistory::Stored* RtpPacketHistory::Find(int64_t sequence_number) {
  const int64_t index = sequence_number - first_sequence_number_;
  if (index < 0 || index >= static_cast<int64_t>(stored_.size())) return nullptr;
  return &stored_[static_cast<size_t>(index)];
}

void RtpPacketHistory::Cull(int64_t now_ns) {
  const int64_t duration_ns = std::max(kMinPacketDurationNs, kMinPacketDurationRoundTrips * round_trip_time_ns_);
  while (!stored_.empty()) {
    const Stored& oldest = stored_.front();
    const int64_t age_ns = now_ns - oldest.sent_ns;
    const bool too_many = stored_.size() >= kPacketsToStore && age_ns >= duration_ns;
    const bool too_old = age_ns >= kCullingDelayFactor * duration_ns;
    if (stored_.size() < kMaxCapacity && (oldest.waits || !(too_many || too_old))) break;
    stored_.pop_front();
    ++first_sequence_number_;
  }
}

}  // namespace weir::sim
